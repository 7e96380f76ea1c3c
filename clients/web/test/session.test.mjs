import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Session } from "../dist/session.js";

/** Sockets that a test opens, feeds and closes by hand. */
class Socket {
  static CONNECTING = 0;
  static OPEN = 1;
  static made = [];
  readyState = 0;
  sent = [];
  closed = undefined;

  constructor(url, protocols) {
    Object.assign(this, { url, protocols });
    Socket.made.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close(code = 1000) {
    this.closed = code;
  }

  open() {
    this.readyState = 1;
    this.onopen();
  }

  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }

  ready(more = {}) {
    this.open();
    this.say({ type: "ready", session: "s", resume_token: "r", resumed: false, limits: {}, ...more });
  }

  lose(code = 1006, reason = "") {
    this.readyState = 3;
    this.onclose({ code, reason });
  }
}

let now = 0;
const originals = { WebSocket: globalThis.WebSocket, now: performance.now };

beforeEach(() => {
  Socket.made = [];
  now = 0;
  globalThis.WebSocket = Socket;
  performance.now = () => now;
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
});

afterEach(() => {
  mock.timers.reset();
  globalThis.WebSocket = originals.WebSocket;
  performance.now = originals.now;
});

async function pass(ms) {
  for (let left = ms; left > 0; left -= 50) {
    now += 50;
    mock.timers.tick(50);
    await settle();
  }
}

/** Let what was promised happen: hello and token are asked for before each socket. */
async function settle() {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

async function begin(options = {}) {
  const log = { states: [], messages: [], lost: [], audio: [] };
  const session = new Session(
    { url: "ws://server/v1/stream", hello: async () => ({ type: "hello" }), ...options },
    {
      state: (state) => log.states.push(state),
      ready: () => undefined,
      message: (message) => log.messages.push(message),
      audio: (header) => log.audio.push(header.seq),
      lost: (error) => log.lost.push(error.code),
    },
  );
  session.connect();
  await settle();
  return { session, log };
}

test("it says hello first, and is ready when the server is", async () => {
  const { session, log } = await begin();
  const [socket] = Socket.made;
  assert.equal(session.send({ type: "ping" }), false);
  socket.ready();
  assert.deepEqual(socket.protocols, ["cosystream.v1"]);
  assert.deepEqual(socket.sent, [{ type: "hello" }]);
  assert.deepEqual(log.states, ["connecting", "ready"]);
  assert.equal(session.send({ type: "ping" }), true);
});

test("after a drop it resumes behind the last message it has", async () => {
  const { log } = await begin();
  Socket.made[0].ready();
  Socket.made[0].say({ type: "opened", ctx: "a", sid: 1, seq: 1 });
  Socket.made[0].lose();
  await pass(400);
  Socket.made[1].ready({ resumed: true });
  assert.deepEqual(Socket.made[1].sent[0].resume, { session: "s", token: "r", last_seq: 1 });
  assert.deepEqual(log.states, ["connecting", "ready", "reconnecting", "ready"]);
});

test("what comes again is dropped", async () => {
  const { session, log } = await begin();
  Socket.made[0].ready();
  for (const seq of [1, 2, 2, 1, 3]) Socket.made[0].say({ type: "queued", ctx: "a", position: seq, seq });
  assert.deepEqual(log.messages.map(({ position }) => position), [1, 2, 3]);
  assert.equal(session.duplicates, 2);
});

test("what is missing even after a resume is told as an error, and the stream goes on", async () => {
  const { log } = await begin();
  Socket.made[0].ready();
  Socket.made[0].say({ type: "queued", ctx: "a", position: 0, seq: 3 });
  assert.equal(Socket.made[0].closed, undefined, "our close frame would end the session");
  await pass(400);
  Socket.made[1].ready({ resumed: true });
  Socket.made[1].say({ type: "queued", ctx: "a", position: 0, seq: 3 });
  assert.deepEqual(log.messages.map(({ code, type }) => code ?? type), ["messages_missing", "queued"]);
  assert.equal(Socket.made[0].closed, 1000);
});

test("a server that falls silent while it should speak is given up after two pings", async () => {
  const { session } = await begin();
  Socket.made[0].ready();
  session.busy(true);
  await pass(16_000);
  assert.equal(Socket.made[0].sent.filter(({ type }) => type === "ping").length >= 2, true);
  assert.equal(Socket.made.length, 2);
});

test("an idle connection is left alone, and one that the server closes as idle is not made again", async () => {
  const { log } = await begin();
  Socket.made[0].ready();
  await pass(60_000);
  assert.equal(Socket.made[0].sent.length, 1);
  Socket.made[0].lose(4008, "idle");
  await pass(10_000);
  assert.equal(Socket.made.length, 1);
  assert.equal(log.states.at(-1), "idle");
});

for (const code of [1008, 4000, 4010]) {
  test(`after close ${code} there is no second try, until it is asked for`, async () => {
    const { session, log } = await begin();
    Socket.made[0].open();
    Socket.made[0].say({ type: "error", code: "some_code", message: "why", fatal: true });
    Socket.made[0].lose(code);
    await pass(60_000);
    assert.equal(Socket.made.length, 1);
    assert.deepEqual(log.lost, ["some_code"]);
    assert.equal(log.states.at(-1), "closed");
    session.connect();
    await settle();
    assert.equal(Socket.made.length, 2);
  });
}

test("a full server is tried again when it says", async () => {
  await begin();
  Socket.made[0].open();
  Socket.made[0].say({ type: "error", code: "too_many_sessions", message: "full", fatal: true, retry_after_ms: 5000 });
  Socket.made[0].lose(1013);
  await pass(4900);
  assert.equal(Socket.made.length, 1);
  await pass(200);
  assert.equal(Socket.made.length, 2);
});

test("after a slow consumer's abort a new session is begun", async () => {
  await begin();
  Socket.made[0].ready();
  Socket.made[0].lose(4009);
  await pass(400);
  Socket.made[1].open();
  assert.equal(Socket.made[1].sent[0].resume, undefined);
});

test("the tries become rarer, and contexts are given up after 45 s", async () => {
  const { session, log } = await begin();
  session.busy(true);
  const times = [];
  for (let left = 60_000; left > 0; left -= 50) {
    const socket = Socket.made.at(-1);
    if (socket.readyState === 0) {
      times.push(now);
      socket.lose();
    }
    await pass(50);
  }
  const waits = times.slice(1).map((time, i) => time - times[i]);
  assert.ok(waits[0] <= 350 && Math.max(...waits) <= 9700 && waits.at(-1) > 6000, waits.join());
  assert.deepEqual(log.lost, ["server_unreachable"]);
});

test("a token is asked for once a session, and used again to resume it", async () => {
  let tokens = 0;
  await begin({ getToken: async () => `t${++tokens}` });
  Socket.made[0].ready();
  Socket.made[0].lose();
  await pass(400);
  Socket.made[1].ready();
  Socket.made[1].lose(1001);
  await pass(400);
  assert.deepEqual(Socket.made.map(({ protocols }) => protocols[1]), ["token.t1", "token.t1", "token.t2"]);
});

test("a token that cannot be had is an error, and no connection is tried", async () => {
  const { log } = await begin({ getToken: () => Promise.reject(new Error("no such user")) });
  await settle();
  assert.deepEqual(log.lost, ["token_failed"]);
  assert.equal(Socket.made.length, 0);
});
