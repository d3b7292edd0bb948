// The token: from the address that the command printed, kept for this tab.
//
// It comes in the fragment, which browsers do not send, and is removed from the URL at once. sessionStorage belongs to
// this origin with its port, so pages on other ports cannot read it. There is no cookie.

const WAIT = 300; // milliseconds in which another tab of the page answers

const channel = new BroadcastChannel("flipset");

let token = take() ?? sessionStorage.getItem("token");

function take() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = given.get("token");
  if (found === null) return null;
  sessionStorage.setItem("token", found);
  given.delete("token");
  history.replaceState(null, "", given.size ? `#${given}` : location.pathname);
  return found;
}

/** Ask other tabs of the page for the token, for a copied link that was opened in a new tab. */
const ask = () => new Promise((answer) => {
  const listen = ({ data }) => { if (data.token) answer(data.token); };
  channel.addEventListener("message", listen);
  channel.postMessage({ wanted: true });
  setTimeout(() => { channel.removeEventListener("message", listen); answer(null); }, WAIT);
});

channel.addEventListener("message", ({ data }) => { if (data.wanted && token) channel.postMessage({ token }); });

addEventListener("hashchange", () => { if (take() !== null) location.reload(); });

/** The headers that a request needs. */
export async function authorization() {
  if (!token) {
    token = await ask();
    if (token) sessionStorage.setItem("token", token);
  }
  return { authorization: `Bearer ${token ?? ""}` };
}
