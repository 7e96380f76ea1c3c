/** Fails where the committed dist/ or page modules are not what the sources build to. */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

async function files(folder, ending) {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function differing(committed, fresh, ending) {
  const names = new Set([...(await files(committed, ending)), ...(await files(fresh, ending))]);
  const same = async (name) => {
    const [one, other] = await Promise.all([committed, fresh].map((folder) => readFile(join(folder, name)).catch(() => null)));
    return one !== null && other !== null && one.equals(other);
  };
  const verdicts = await Promise.all([...names].map(async (name) => [name, await same(name)]));
  return verdicts.filter(([, equal]) => !equal).map(([name]) => join(committed, name));
}

const scratch = await mkdtemp(join(tmpdir(), "cosystream-web-"));
try {
  const [dist, page] = [join(scratch, "dist"), join(scratch, "page")];
  await build(dist, page);
  const stale = [
    ...(await differing(join(root, "dist"), dist, "")),
    ...(await differing(join(root, "../../server/page"), page, ".js")),
  ];
  for (const name of stale) console.error(`not what the sources build to: ${name}`);
  if (stale.length > 0) {
    console.error("run `npm run build` and commit the result");
    process.exitCode = 1;
  } else console.log("the committed build is up to date");
} finally {
  await rm(scratch, { recursive: true, force: true });
}
