// Runs the tasks of docs/command-line.md with svc and with curl, and the examples that the help of svc shows, against the
// real services.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { quoteForShell } from '../../src/demo-env.ts';
import { repository } from '../../src/settings.ts';
import { startWorld, type World } from './world.ts';

const SVC = path.join(repository, 'apps/cli/dist/svc.mjs');

/** A row of the table of tasks. */
interface Task {
  readonly name: string;
  readonly svc: string;
  readonly curl: string;
}

const page = fs.readFileSync(path.join(repository, 'docs/command-line.md'), 'utf8');
const tasks: readonly Task[] = page
  .slice(page.indexOf('\n## Tasks'), page.indexOf('\n## Diagnosis'))
  .split('\n')
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')))
  .flatMap(([, name = '', svc = '', curl = '']) =>
    svc.startsWith('`svc ') ? [{ name, svc: svc.slice(1, -1), curl: curl.slice(1, -1) }] : [],
  );

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await run(SETUP);
});
afterAll(() => world?.stop());

const samples = quoteForShell(path.join(repository, 'packages/convert/test/samples'));

/** What the page states before the table, the contexts, and the files that examples name. */
const SETUP = `
cp -r infra/catalog catalog
node apps/hub/dist/main.js bundle site.bundle --organization demo
cp -r infra/catalog signed
node apps/hub/dist/main.js keys new root.pem
node apps/hub/dist/main.js keys new signing.pem
node apps/hub/dist/main.js keys keyring signed --publisher example --root root.pem --key signing.pem.pub
cp ${samples}/compose/harmless-ghost.yaml compose.yaml
cp ${samples}/caprover/harmless-ghost.yml ghost.yml
printf '{"version": "3", "templates": [{"type": 1, "title": "Ghost", "image": "ghost:6"}]}' > templates.json
printf 'a password' > password.txt
printf 'a token' > token.txt
printf 'kind: deployment\\nname: described\\ntemplate: memcached\\n' > deploy.yaml
printf %s "$FLEET_ADMIN_TOKEN" > fleet.token
printf %s "$HUB_ADMIN_JWT" > hub.token
svc login "$HUB_URL" --token - < hub.token
svc login "$FLEET_URL" --token - < fleet.token
cat > kubeconfig.yaml <<'KUBECONFIG'
contexts: [{name: lab, context: {cluster: lab, user: fleet}}]
clusters: [{name: lab, cluster: {server: 'https://127.0.0.1:9'}}]
users: [{name: fleet, user: {token: not-a-token}}]
KUBECONFIG
curl -s -X POST -H "Authorization: Bearer $HUB_ADMIN_JWT" -H 'Content-Type: application/json' \\
  -d '{"name": "Internal", "slug": "internal", "is_private": true}' "$HUB_URL/api/v1/admin/categories"
ID=$(curl -s "$HUB_URL/api/v1/catalog/templates/redis" | node -p 'JSON.parse(require("fs").readFileSync(0)).id')
curl -s -X PUT -H "Authorization: Bearer $HUB_ADMIN_JWT" -H 'Content-Type: application/json' \\
  -d "{\\"id\\": \\"$ID\\", \\"version\\": \\"1.0.1\\"}" "$HUB_URL/api/v1/admin/templates"
curl -s -X POST -H "Authorization: Bearer $HUB_USER_JWT" -H 'Content-Type: application/json' \\
  -d '{"name": "Own", "slug": "own"}' "$HUB_URL/api/v1/account/organizations"
`;

async function run(script: string): Promise<string> {
  const { code, stdout, stderr } = await world.run(script);
  if (code !== 0) throw new Error(`the commands end with ${code}:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`);
  return stdout;
}

/** Runs commands one after another, and states which one failed. */
const inOrder = (commands: readonly string[]) =>
  commands.map((command) => `echo ${quoteForShell(`== ${command}`)}\n${command}\n`).join('');

test('the table has the 20 tasks, and svc needs at most a fifth of the characters of curl', () => {
  expect(tasks).toHaveLength(20);
  const length = (of: 'svc' | 'curl') => tasks.reduce((sum, task) => sum + task[of].length, 0);
  expect(length('svc') * 5).toBeLessThanOrEqual(length('curl'));
});

/** Deletes what the tasks create, so that the other column can create it. */
const AGAIN = `
svc hub grant demo databases --revoke -y
rm -r copy
for KIND in hosts secrets; do
  ID=$(curl -s -H "Authorization: Bearer $FLEET_ADMIN_TOKEN" "$FLEET_URL/api/v1/$KIND?name=m1,db" |
    node -p "JSON.parse(require('fs').readFileSync(0)).$KIND[0].id")
  curl -s -X DELETE -H "Authorization: Bearer $FLEET_ADMIN_TOKEN" "$FLEET_URL/api/v1/$KIND/$ID"
done
`;

test('each task works with svc, and with curl', async () => {
  await run(inOrder(tasks.map(({ svc }) => svc)));
  await run(AGAIN);
  await world.cleanUp();
  await run(inOrder(tasks.map(({ curl }) => curl)));
  await run(AGAIN);
  await world.cleanUp();
});

/** The command lines in the help of all commands, in the order of the help. */
async function examples(): Promise<readonly string[]> {
  const help = async (words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, [SVC, ...words, '--help']);
    const [, commands = ''] = stdout.split('\nCommands:\n');
    const names = [...(commands.split('\n\n', 1)[0]?.matchAll(/^ {2}([a-z-]+) /gm) ?? [])].map(([, name = '']) => name);
    if (names.length === 0) return [...stdout.matchAll(/^ {2}\$ (svc .*)$/gm)].map(([, line = '']) => line);
    const nested: string[] = [];
    for (const name of names) nested.push(...(await help([...words, name])));
    return nested;
  };
  return help([]);
}

/** The exit codes with which an example can end. */
function codesOf(example: string): readonly number[] {
  if (/^svc plan (?:approve|reject) /.test(example)) return [1]; // the examples use a token, and tokens approve nothing
  if (/^svc source .* --wait/.test(example)) return [1]; // no repository responds at the address of the examples
  if (!example.includes('--dry-run')) return [0];
  return example.startsWith('svc hub import') ? [0, 3] : [3];
}

/** Repeats a command until it succeeds. */
const until = (command: string) => `for _ in $(seq 600); do ${command} && break; sleep 0.2; done\n`;

/** A member of the deployment of the examples. */
const ofCache = (member: string) =>
  `svc deployments --search cache -o json | node -p 'JSON.parse(require("fs").readFileSync(0))[0].${member}'`;

/** A new version of the template of the deployment, which the fleet knows. */
const NEW_VERSION = `
ID=$(curl -s "$HUB_URL/api/v1/catalog/templates/memcached" | node -p 'JSON.parse(require("fs").readFileSync(0)).id')
curl -s -X PUT -H "Authorization: Bearer $HUB_ADMIN_JWT" -H 'Content-Type: application/json' \\
  -d "{\\"id\\": \\"$ID\\", \\"version\\": \\"9.0.0\\", \\"memory_request\\": \\"96Mi\\"}" "$HUB_URL/api/v1/admin/templates"
curl -s -X POST -H "Authorization: Bearer $FLEET_ADMIN_TOKEN" -H 'Content-Type: application/json' -d '{}' "$FLEET_URL/api/v1/catalog/sync"
`;

/** Changes the deployment of the examples. */
const changeCache = (body: object) => `
ID=$(${ofCache('id')})
curl -s -X PUT -H "Authorization: Bearer $FLEET_ADMIN_TOKEN" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}' "$FLEET_URL/api/v1/deployments/$ID"
`;

const untilRollout = (state: string) => until(`[ "$(${ofCache('rollout?.state')})" = ${state} ]`);

/** A plan of the file, which is already applied. */
const PLAN_OF_FILE = `
PLAN=$(svc plan create -f deploy.yaml --set shop -o json | node -p 'JSON.parse(require("fs").readFileSync(0)).id')
`;

/** What precedes an example. The changes of the examples before it can still be under way, and then nothing has an address. */
function beforeOf(example: string): string {
  if (example.includes('$PLAN')) return PLAN_OF_FILE;
  if (example === 'svc source show shop') return 'svc source add shop https://git.example.com/team/shop.git --yes\n';
  if (example.startsWith('svc source add')) return 'svc source rm shop --yes\n';
  if (example.startsWith('svc open')) return until(`${example} > /dev/null 2>&1`);
  if (example === 'svc update cache --dry-run') return NEW_VERSION + changeCache({ updates: { ready_seconds: 0 } });
  // A return needs a generation that is known to be good, and a rollout that still runs.
  if (example.startsWith('svc update'))
    return untilRollout('succeeded') + changeCache({ updates: { ready_seconds: 10 } });
  if (!example.startsWith('svc rollout resume')) return '';
  // A change that cannot be complete at its deadline.
  const updates = { on_failure: 'stop', ready_seconds: 9, deadline_seconds: 10 };
  return `${changeCache({ updates })}svc restart cache --yes\n${untilRollout('held')}`;
}

/** An example with what it needs, which fails if it ends with another exit code. */
function checked(example: string): string {
  const isOfOwnOrganization = example.startsWith('svc hub key') && !example.includes('--org');
  const token = isOfOwnOrganization ? 'SVC_TOKEN="$HUB_USER_JWT" ' : '';
  const isExpected = codesOf(example)
    .map((code) => `[ "$CODE" -eq ${code} ]`)
    .join(' || ');
  return `${beforeOf(example)}CODE=0; ${token}${example} || CODE=$?\n${isExpected} || { echo "it ends with $CODE"; exit 1; }`;
}

test('each example in the help works', async () => {
  const all = await examples();
  expect(all.length).toBeGreaterThan(40);
  const isLast = (example: string) => example.startsWith('svc logout');
  const ordered = [...all.filter((example) => !isLast(example)), ...all.filter(isLast)];
  // A context of Docker, and catalog files with all categories, so that --prune keeps them.
  const context = createHash('sha256').update('machine-2').digest('hex');
  await run(`
    mkdir -p "$HOME/.docker/contexts/meta/${context}"
    printf '{"Name": "machine-2", "Endpoints": {"docker": {"Host": "%s"}}}' "$ENGINE" \\
      > "$HOME/.docker/contexts/meta/${context}/meta.json"
    svc hub export catalog`);
  const output = await run(inOrder(ordered.map(checked)));
  expect(output).toContain('"url"'); // JSON
  expect(output).toMatch(/^url: /m); // YAML
});
