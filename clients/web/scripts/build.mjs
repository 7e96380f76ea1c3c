/**
 * Builds dist/ and the page's modules: TypeScript one to one, and `opus-decoder` bundled, with its
 * WebAssembly in a file of its own. `node scripts/build.mjs [DIST PAGE]` builds to other places.
 */

import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build as bundle } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const decoderSource = join(modules, "opus-decoder/src/EmscriptenWasm.js");

export async function build(dist, page) {
  await rm(dist, { recursive: true, force: true });
  compile("tsconfig.json", dist);
  await mkdir(join(dist, "decode"), { recursive: true });
  await copyFile(join(root, "src/decode/opus-decoder.d.ts"), join(dist, "decode/opus-decoder.d.ts"));
  await copyFile(join(root, "scripts/opus-decoder.LICENSE.txt"), join(dist, "opus-decoder.LICENSE.txt"));
  await writeFile(join(dist, "opus-decoder.wasm"), await decoderWasm());
  await bundleDecoder(join(dist, "decode"));
  compile("tsconfig.page.json", page);
}

function compile(config, outDir) {
  const tsc = join(modules, "typescript/bin/tsc");
  const args = [tsc, "--project", join(root, config), "--outDir", resolve(outDir)];
  execFileSync(process.execPath, args, { stdio: "inherit" });
}

/** The module that `opus-decoder` carries as a compressed string. */
async function decoderWasm() {
  const common = join(modules, "@wasm-audio-decoders/common/src/WASMAudioDecoderCommon.js");
  const { default: Common } = await import(pathToFileURL(common).href);
  const { default: Emscripten } = await import(pathToFileURL(decoderSource).href);
  new Common();
  new Emscripten(Common);
  return Common.inflateDynEncodeString(Emscripten.wasm);
}

async function bundleDecoder(outDir) {
  await bundle({
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [{ name: "no-inline-wasm", load: withoutWasm }],
    build: {
      outDir,
      emptyOutDir: false,
      minify: false,
      target: "es2022",
      lib: { entry: join(root, "scripts/opus-decoder.entry.mjs"), formats: ["es"], fileName: () => "opus-decoder.js" },
    },
  });
}

/** The decoder's glue without the string: it gets the compiled module handed in. */
async function withoutWasm(id) {
  if (resolve(id) !== decoderSource) return null;
  const source = await readFile(id, "utf8");
  const start = source.indexOf("if (!EmscriptenWASM.wasm)");
  const end = source.indexOf("var imports = {", start);
  if (start < 0 || end < 0) throw new Error(`${id} is not laid out as expected: was opus-decoder updated?`);
  return source.slice(0, start) + source.slice(end);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dist = join(root, "dist"), page = join(root, "../../server/page")] = process.argv.slice(2);
  await build(dist, page);
}
