// node pack.mjs QUERY: the pack's id and its places. `ctl` starts the daemon.
import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

execFileSync('ctl', ['--quiet', 'daemon', 'start'], { stdio: ['ignore', 'ignore', 'inherit'] });
const { daemon } = JSON.parse(execFileSync('ctl', ['status', '--json'], { encoding: 'utf8' }));
const socket = connect(daemon.socket);
const defaultBudgets = { maxTotalTokens: 4000, maxBytesPerItem: 16000, maxItems: 250, maxItemsPerSection: 80 };
const params = { cwd: process.cwd(), query: process.argv[2], includeExplain: false, defaultBudgets };
socket.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'pack', params }) + '\n');
for await (const line of createInterface({ input: socket })) {
  const { id, error, result } = JSON.parse(line);
  if (id !== 1) continue;
  socket.end();
  if (error) throw new Error(`${error.message}: ${error.data.hint}`);
  console.log(result.pack.packId);
  for (const { items } of result.pack.sections)
    for (const item of items) console.log(`${item.fileRelPath}:${item.lines.start}-${item.lines.end}`);
}
