// Requests to the server.

class Refused extends Error {}

async function read(response) {
  const said = await response.json().catch(() => ({}));
  if (response.ok) return said;
  const detail = Array.isArray(said.detail) ? said.detail.map((one) => one.msg).join("; ") : said.error;
  throw new Refused(detail ?? `the server answered ${response.status}`);
}

export async function get(path, query = {}, signal) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== false && value !== null);
  const text = new URLSearchParams(given).toString();
  return read(await fetch(`/api/${path}${text ? `?${text}` : ""}`, { signal }));
}

export async function post(path, body, signal) {
  return read(await send(path, body, signal));
}

export async function postForText(path, body) {
  const response = await send(path, body);
  if (!response.ok) return read(response);
  return response.text();
}

const send = (path, body, signal) => fetch(`/api/${path}`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
  signal,
});

/** Follow the progress of the table until it is explained. */
export function follow(told) {
  const events = new EventSource("/api/progress");
  events.onmessage = (event) => {
    const now = JSON.parse(event.data);
    if (now.failure || now.explained === now.rows) events.close();
    told(now);
  };
  events.onerror = () => { if (events.readyState === EventSource.CLOSED) events.close(); };
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
