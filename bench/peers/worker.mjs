// The loop of a peer on Node: a request a line on standard input, an answer a line on standard output, both JSON.
//
//   {"load": PATH}  read a prompt as plain data      -> {"ok": true}
//   {"round": 1}    build it and render it once      -> {"build": s, "render": s, "cpu": s, "tokens": n, "cutoff": c}
//   {"show": PATH}  write the last prompt's contents -> {"ok": true}
//
// What goes wrong is answered as {"error": "…"}. Garbage of earlier rounds is collected before the clock starts. "cpu"
// is the processor's time for the render, of all threads.

import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';

/** Loads packages from the folder that setup.sh fills. */
export const requirePeer = createRequire(resolve('build/peers/node/package.json'));

const seconds = (start) => Number(process.hrtime.bigint() - start) / 1e9;

/**
 * Serves until standard input ends.
 * @param build  (data) => tree, a fresh one
 * @param render (tree, data) => {tokens, cutoff, text}, may be async
 */
export async function serve(build, render) {
  console.log = console.error; // standard output belongs to the answers
  let data;
  let text = '';
  const handle = async (request) => {
    if (request.load !== undefined) {
      data = JSON.parse(readFileSync(request.load, 'utf8'));
    } else if (request.show !== undefined) {
      writeFileSync(request.show, text);
    } else {
      text = '';
      globalThis.gc?.();
      let start = process.hrtime.bigint();
      const tree = build(data);
      const built = seconds(start);
      const cpu = process.cpuUsage();
      start = process.hrtime.bigint();
      const given = await render(tree, data);
      const rendered = seconds(start);
      const { user, system } = process.cpuUsage(cpu);
      text = given.text();
      const { tokens, cutoff } = given;
      return { build: built, render: rendered, cpu: (user + system) / 1e6, tokens, cutoff };
    }
    return { ok: true };
  };
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = await handle(JSON.parse(line));
    } catch (error) {
      answer = { error: String(error).slice(0, 300) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
  process.exit(0); // the original keeps a socket open for its statistics
}
