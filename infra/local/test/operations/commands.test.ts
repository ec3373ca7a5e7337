// The command lines of both services, and the page that documents them.
import fs from 'node:fs';
import path from 'node:path';
import { startProcess } from '@svc/testing';
import { repository } from '../../src/settings.ts';

const page = fs.readFileSync(path.join(repository, 'docs', 'commands.md'), 'utf8');
const services = ['hub', 'fleet'] as const;
type Service = (typeof services)[number];

async function run(service: Service, ...args: string[]) {
  const { ended, output } = startProcess(path.join(repository, 'apps', service, 'dist', 'main.js'), args, {});
  return { code: await ended, output: output() };
}

/** The names of the commands in the help. */
const commandsOf = (help: string) => [...help.matchAll(/^ {2}([a-z][a-z-]+) {2,}\S/gm)].map(([, name = '']) => name);

test.each(services)('each command of the %s has help, which exits with 0, and is documented', async (service) => {
  const { code, output } = await run(service, '--help');
  expect(code).toBe(0);
  const names = commandsOf(output);
  expect(names).toEqual(expect.arrayContaining(['serve', 'migrate', 'doctor', 'version']));
  const helps = await Promise.all(names.map(async (name) => ({ name, ...(await run(service, name, '--help')) })));
  for (const help of helps) {
    expect([help.name, help.code]).toEqual([help.name, 0]);
    expect(help.output).toMatch(new RegExp(`^Usage: node dist/main\\.js ${help.name} `));
    expect(page).toContain(`\`${help.name}\``);
  }
});

test.each(services)('the version of the %s is that of its package.json', async (service) => {
  const { version } = JSON.parse(fs.readFileSync(path.join(repository, 'apps', service, 'package.json'), 'utf8'));
  expect(await run(service, 'version')).toEqual({ code: 0, output: `${service} ${version}\n` });
});

test.each(services)('the exit codes of the %s are those that the page documents', async (service) => {
  const documented = [...page.matchAll(/^\| (\d) \|/gm)].map(([, code]) => Number(code));
  const codes = await Promise.all([
    run(service, 'version'), // success
    run(service, 'migrate'), // the configuration is invalid
    run(service, 'migrate', '--unknown'), // the command line is invalid
  ]);
  expect(codes.map(({ code }) => code)).toEqual(documented);
});
