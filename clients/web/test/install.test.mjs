/** What is packed installs: in a Vite app that builds, in a plain page with an import map, with types. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const app = mkdtempSync(join(tmpdir(), "cosystream-app-"));
const installed = join(app, "node_modules/cosystream");
const npm = (args, cwd) =>
  execFileSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32", stdio: ["ignore", "pipe", "ignore"] });

const MAIN = `
  import { Speaker } from "cosystream";
  const speaker = new Speaker({ url: "/" });
  document.body.onclick = () => speaker.speak("Hello.");
`;

before(() => {
  const [{ filename }] = JSON.parse(npm(["pack", "--json", "--pack-destination", app], root));
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  npm(["install", "--offline", "--no-audit", "--no-fund", join(app, filename)], app);
  writeFileSync(join(app, "index.html"), `<!doctype html><script type="module" src="./main.js"></script>`);
  writeFileSync(join(app, "main.js"), MAIN);
});

after(() => rmSync(app, { recursive: true, force: true }));

test("it brings no dependency, its licence, and that of the bundled decoder", () => {
  const packed = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  assert.equal(packed.dependencies, undefined);
  assert.deepEqual(readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith(".")), ["cosystream"]);
  assert.match(readFileSync(join(installed, "dist/opus-decoder.LICENSE.txt"), "utf8"), /MIT License/);
  assert.match(readFileSync(join(installed, "LICENSE"), "utf8"), /Apache License/);
});

test("a Vite app builds with it, and the worklet and the WebAssembly are files of their own", async () => {
  await build({ root: app, configFile: false, logLevel: "silent", build: { outDir: "out" } });
  const assets = readdirSync(join(app, "out/assets"));
  assert.ok(assets.some((name) => /^worklet-.*\.js$/.test(name)), assets.join());
  assert.ok(assets.some((name) => /^opus-decoder-.*\.wasm$/.test(name)), assets.join());
  const scripts = assets.filter((name) => name.endsWith(".js"));
  for (const name of scripts) {
    const text = readFileSync(join(app, "out/assets", name), "utf8");
    assert.doesNotMatch(text, /data:(text|application)\/(javascript|wasm)/, name);
  }
  const worklet = scripts.find((name) => name.startsWith("worklet-"));
  assert.doesNotMatch(readFileSync(join(app, "out/assets", worklet), "utf8"), /^\s*import\s/m);
});

test("a plain page needs no more than an import map: each import leads to a file", () => {
  const seen = new Set();
  const follow = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    assert.ok(existsSync(file), file);
    for (const [, target] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
      assert.match(target, /^\.\.?\//, `${file} imports ${target}, which a browser cannot find`);
      follow(fileURLToPath(new URL(target, pathToFileURL(file))));
    }
  };
  follow(join(installed, "dist/index.js"));
  assert.ok(existsSync(join(installed, "dist/audio/worklet.js")));
  assert.ok(existsSync(join(installed, "dist/opus-decoder.wasm")));
});

test("its types are found and hold", () => {
  const source = `
    import { type NewVoice, Recorder, Speaker, Voices, type Result } from "cosystream";
    const speaker = new Speaker({ getToken: async () => "token", voice: "heart" });
    async function* words() { yield "Hello "; yield "there."; }
    speaker.on("progress", ({ charIndex, word }) => console.log(charIndex, word?.text));
    export const result: Promise<Result> = speaker.speak(words(), { speed: 1.2, when: "interrupt" }).done;
    const recorder = new Recorder();
    recorder.on("level", ({ peak, seconds }) => console.log(peak, seconds));
    export const made: Promise<NewVoice> = recorder.stop().then(({ audio }) =>
      new Voices({ key: () => "key" }).create({ audio, transcript: "Hello.", name: "Me", consent: "my own" }));
    // @ts-expect-error there is no such event
    speaker.on("nothing", () => undefined);
  `;
  writeFileSync(join(app, "main.ts"), source);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022"];
  execFileSync(process.execPath, [tsc, ...options, "--lib", "es2023,dom", "--types", "", "main.ts"], { cwd: app, stdio: "inherit" });
});

test("importing what was installed does nothing on a server", () => {
  const script = `await import("cosystream"); console.log("quiet");`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: app, encoding: "utf8" });
  assert.equal(output, "quiet\n");
});
