import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWithEngine, startEngine } from '@svc/testing/engine';

describeWithEngine('an engine for tests', () => {
  test('stops although a process and a mount are left that it does not know', async () => {
    const engine = await startEngine();
    const folder = path.dirname(new URL(engine.endpoint).pathname);
    const output = path.join(folder, 'output');
    writeFileSync(output, '');
    const monitor = spawn('tail', ['-f', output], { stdio: 'ignore' });
    const ended = once(monitor, 'exit');
    const mounted = path.join(folder, 'run', 'a', 'b', 'c');
    mkdirSync(mounted, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', mounted]);

    await engine.stop();

    expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(folder);
    expect(existsSync(folder)).toBe(false);
    expect(await ended).toEqual([null, 'SIGKILL']);
  });
});
