// Requests to the server.

import { authorization } from "./token.js";

const AGAIN = 2000; // milliseconds before a broken connection is opened again

class Refused extends Error {}

async function read(response) {
  const said = await response.json().catch(() => ({}));
  if (response.ok) return said;
  if (response.status === 401) throw new Refused("Open the address that the command printed: it contains the token.");
  const detail = Array.isArray(said.detail) ? said.detail.map((one) => one.msg).join("; ") : said.error;
  throw new Refused(detail ?? `the server answered ${response.status}`);
}

export async function get(path, query = {}, signal) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== false && value !== null);
  const text = new URLSearchParams(given).toString();
  return read(await fetch(`/api/${path}${text ? `?${text}` : ""}`, { headers: await authorization(), signal }));
}

export async function post(path, body, signal) {
  return read(await send(path, body, signal));
}

export async function postForText(path, body) {
  const response = await send(path, body);
  if (!response.ok) return read(response);
  return response.text();
}

const send = async (path, body, signal) => fetch(`/api/${path}`, {
  method: "POST",
  headers: { "content-type": "application/json", ...await authorization() },
  body: JSON.stringify(body),
  signal,
});

/** Follow the progress of the table until it is explained. */
export async function follow(told) {
  for (;;) {
    try {
      for await (const now of reports()) {
        told(now);
        if (now.failure || now.explained === now.rows) return;
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    await new Promise((done) => { setTimeout(done, AGAIN); });
  }
}

/** The server-sent events about progress. EventSource cannot send the token. */
async function* reports() {
  const response = await fetch("/api/progress", { headers: await authorization() });
  if (!response.ok) await read(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) yield JSON.parse(event.slice("data: ".length));
  }
}

/** Run only the latest of several requests: earlier ones are cancelled. */
export function latest() {
  let running;
  return async (request) => {
    running?.abort();
    const mine = running = new AbortController();
    try {
      const answer = await request(mine.signal);
      return mine === running ? answer : undefined;
    } catch (error) {
      if (mine !== running || error.name === "AbortError") return undefined;
      throw error;
    }
  };
}
