import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type ExitCode, exitCodes, UsageError } from './errors.ts';
import type { Action, Common } from './invocation.ts';
import { formats, tell, writeLine } from './output.ts';
import { version } from './version.ts';

/** An action whose module is loaded when the command runs, so that the others start faster. */
type LoadAction<O extends Common> = () => Promise<Action<O>>;

interface Declared<O extends Common> {
  /** One line for the help. */
  readonly summary: string;
  /** Complete command lines for the help. Tests execute them. */
  readonly examples: readonly string[];
  readonly options?: (command: Command) => void;
  readonly load: LoadAction<O>;
}

/** What a run of the program leaves. */
interface Result {
  code: ExitCode;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const repeated = (flags: string, description: string) =>
  new Option(flags, description).argParser(collect).default([], 'none');

function integer(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be an integer.');
  return Number(text);
}

const number = (flags: string, description: string) => new Option(flags, description).argParser(integer);

/** Creates the program with all commands. The code of a command that runs is put in `result`. */
export function createProgram(result: Result): Command {
  const program = new Command('svc')
    .description('The command line client of hubs and fleets.')
    .version(version, '--version', 'print the version')
    .addOption(new Option('-a, --at <context>', 'the context to use, instead of the current one'))
    .addOption(new Option('-o, --output <format>', 'the form of the output').choices(formats).default('table'))
    .option('-y, --yes', 'confirm a change in advance; necessary without a terminal')
    .helpOption('-h, --help', 'print this text')
    .helpCommand(false)
    .showHelpAfterError('Run svc --help for all commands.')
    .addHelpText('after', ENVIRONMENT)
    .exitOverride();

  const add = <O extends Common>(parent: Command, usage: string, { summary, examples, options, load }: Declared<O>) => {
    const command = parent.command(usage).description(`${summary}.`).summary(summary);
    options?.(command);
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
    command.action(async () => {
      const act = await load();
      // The options that are declared here and for all commands.
      const given = command.optsWithGlobals() as O;
      result.code = (await act(command.args, given)) ?? exitCodes.done;
    });
  };
  const group = (name: string, summary: string) =>
    program.command(name).description(`${summary}.`).summary(summary).helpCommand(false);

  addSession(program, add, group);
  addDiagnosis(program, add);
  addCatalog(add, group);
  addDeployments(program, add);
  addUpdates(program, add, group);
  addPlans(program, add, group);
  addSources(add, group);
  addTargets(add, group);
  addCredentials(add, group);
  addTrust(add, group);
  addHub(add, group);
  addAudit(add, group);
  add(program, 'convert <file>', {
    summary:
      'print the application that a file of Compose, Portainer, CapRover or Coolify describes, without a service',
    examples: [
      'svc convert compose.yaml',
      'svc convert compose.yaml --with-files --report report.json',
      'svc convert templates.json --from portainer --only Ghost',
      'svc convert ghost.yml --from caprover --write converted',
    ],
    options: (command) =>
      command
        .addOption(
          new Option('--from <kind>', 'the kind of the file')
            .choices(['compose', 'portainer', 'caprover', 'coolify'])
            .default('compose'),
        )
        .option('--with-files', 'also convert the files beside it that it mounts, and stacks of a list')
        .option('--only <title>', 'convert only the template of the list with this title')
        .option('--report <file>', 'write what becomes of each key to this file, as JSON')
        .option('--write <folder>', 'write files of a catalog to this folder, instead of printing'),
    load: async () => (await import('./commands/convert.ts')).convert,
  });
  add(program, 'completion <shell>', {
    summary: 'print the completion script for bash, zsh or fish',
    examples: ['svc completion bash', 'svc completion zsh', 'svc completion fish'],
    load:
      async () =>
      async ([shell = '']) => {
        const { completionScript } = await import('./commands/completion.ts');
        writeLine(completionScript(shell, program));
        return undefined;
      },
  });
  return program;
}

type Add = <O extends Common>(parent: Command, usage: string, declared: Declared<O>) => void;
type Group = (name: string, summary: string) => Command;

const ENVIRONMENT = `
Environment variables:
  SVC_URL, SVC_TOKEN   the address of a service and the token, instead of a context
  NODE_EXTRA_CA_CERTS  a file with further certificate authorities

Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  refused or failed
  ${exitCodes.usage}  the command line is wrong; nothing was done
  ${exitCodes.changes}  --dry-run: changes exist`;

function addSession(program: Command, add: Add, group: Group): void {
  const session = () => import('./commands/session.ts');
  add(program, 'login <url>', {
    summary: 'sign in to a service with the browser, or with a token from stdin',
    examples: [
      'svc login "$FLEET_URL" --token - < fleet.token',
      'svc login "$HUB_URL" --name hub --token - < hub.token',
    ],
    options: (command) =>
      command
        .option('--token <->', '-: read a token from stdin, instead of using the browser')
        .option('--name <context>', 'the name of the context')
        .option('--no-browser', 'only print the address for the browser'),
    load: async () => (await session()).login,
  });
  add(program, 'logout', {
    summary: 'end the session of the current context, and forget the context',
    examples: ['svc logout --at fleet'],
    load: async () => (await session()).logout,
  });
  const context = group('context', 'list and choose the contexts: services with an account');
  add(context, 'list', {
    summary: 'list the contexts',
    examples: ['svc context list', 'svc context list -o json'],
    load: async () => (await session()).listContexts,
  });
  add(context, 'use <name>', {
    summary: 'choose the current context',
    examples: ['svc context use fleet'],
    load: async () => (await session()).useContext,
  });
}

function addDiagnosis(program: Command, add: Add): void {
  const diagnosis = () => import('./commands/diagnosis.ts');
  add(program, 'status', {
    summary: 'show the state of a service: its checks, and what has problems',
    examples: ['svc status', 'svc status --at hub -o yaml'],
    load: async () => (await import('./commands/status.ts')).status,
  });
  add(program, 'doctor', {
    summary: 'check the configuration of a running service and what it depends on (administrators)',
    examples: ['svc doctor', 'svc doctor --at hub -o json'],
    load: async () => (await diagnosis()).doctor,
  });
  add(program, 'support-bundle', {
    summary: 'store what a person who helps needs to know about a service (administrators)',
    examples: ['svc support-bundle', 'svc support-bundle --at hub -f hub.json'],
    options: (command) => command.option('-f, --file <file>', 'the new file; -: stdout'),
    load: async () => (await diagnosis()).supportBundle,
  });
}

function addCatalog(add: Add, group: Group): void {
  const commands = () => import('./commands/catalog.ts');
  const catalog = group('catalog', 'find templates in a hub, or in the mirror of a fleet');
  add(catalog, 'search [words...]', {
    summary: 'find templates by words of their name, description, image or tags',
    examples: ['svc catalog search vector database', 'svc catalog search --limit 5 --at hub'],
    options: (command) => command.addOption(number('--limit <count>', 'at most this many, up to 100').default(50)),
    load: async () => (await commands()).search,
  });
  add(catalog, 'show <slug>', {
    summary: 'show a template and its variables',
    examples: ['svc catalog show redis', 'svc catalog show qdrant --at hub -o yaml'],
    load: async () => (await commands()).show,
  });
  add(catalog, 'import <bundle>', {
    summary: 'replace the mirror of a fleet with a bundle, which the command bundle of a hub writes',
    examples: ['svc catalog import site.bundle --force --yes'],
    options: (command) =>
      command.option('--force', 'also an older bundle or one of another organization, or beside a hub'),
    load: async () => (await import('./commands/bundle.ts')).importBundle,
  });
}

const wait = (command: Command) => command.option('-w, --wait', 'wait until it runs or has failed');

const variables = (command: Command) =>
  command
    .addOption(repeated('-s, --set <KEY=VALUE>', 'a variable; repeatable'))
    .addOption(repeated('--secret <KEY=SECRET/KEY>', 'a variable from a key of a secret; repeatable'))
    .addOption(repeated('-g, --generate <KEY=LENGTH>', 'a variable that the fleet generates; repeatable'))
    .addOption(repeated('--acknowledge <id>', 'a critical advisory despite which it is deployed; repeatable'));

function addDeployments(program: Command, add: Add): void {
  const commands = () => import('./commands/deployments.ts');
  add(program, 'deploy <template>', {
    summary: 'deploy a template on a host or cluster that the fleet chooses',
    examples: [
      'svc deploy redis --name sessions --generate REDIS_PASSWORD=40 --dry-run',
      'svc deploy memcached --name cache --wait --yes',
    ],
    options: (command) =>
      variables(wait(command))
        .option('-n, --name <name>', 'the name; default: the slug of the template')
        .addOption(repeated('--volume <NAME=SIZE>', 'the size of a volume, such as data=20Gi; repeatable'))
        .addOption(
          repeated(
            '--host-port <PORT=PORT>',
            'a port of the host for one of the workload, such as 53/udp=53; repeatable',
          ),
        )
        .addOption(repeated('-l, --label <KEY=VALUE>', 'a label; repeatable'))
        .addOption(number('-r, --replicas <count>', 'the number of replicas'))
        .option('--host <name>', 'the host, instead of a choice of the fleet')
        .option('--cluster <name>', 'the cluster, instead of a choice of the fleet')
        .option('--dry-run', 'only show the plan; exit code 3'),
    load: async () => (await commands()).deploy,
  });
  add(program, 'deployments', {
    summary: 'list the deployments',
    examples: ['svc deployments', 'svc deployments --phase degraded,failed -l team=ml -o json'],
    options: (command) =>
      command
        .option('-l, --label <selector>', 'labels that they have, such as team=ml,gpu')
        .option('--phase <phases>', 'phases, separated by commas')
        .addOption(
          new Option('--advisory <severity>', 'with an advisory of at least this severity').choices([
            'note',
            'warning',
            'critical',
          ]),
        )
        .option('--search <text>', 'a part of the name'),
    load: async () => (await commands()).list,
  });
  add(program, 'logs <deployment>', {
    summary: 'print the log of a deployment',
    examples: ['svc logs cache --tail 20', 'svc logs cache --all --since 10m'],
    options: (command) =>
      command
        .option('-f, --follow', 'continue with new lines')
        .addOption(number('--tail <lines>', 'the last lines, up to 10000; default: 1000'))
        .option('--since <time>', 'from this time on, such as 10m')
        .option('--previous', 'the log before the last start')
        .option('--all', 'of all instances')
        .option('-c, --container <name>', 'on a cluster, of another container than main')
        .option('-t, --timestamps', 'begin each line with its time'),
    load: async () => (await import('./commands/logs.ts')).logs,
  });
  add(program, 'scale <deployment> <replicas>', {
    summary: 'change the number of replicas',
    examples: ['svc scale cache 2 --dry-run', 'svc scale cache 2 --yes'],
    options: (command) =>
      wait(command).option('--dry-run', 'only show what would change; exit code 3 if something would'),
    load: async () => (await commands()).scale,
  });
  add(program, 'restart <deployment>', {
    summary: 'restart all replicas',
    examples: ['svc restart cache --yes'],
    options: wait,
    load: async () => (await commands()).restart,
  });
  add(program, 'rollback <deployment>', {
    summary: 'restore an earlier generation',
    examples: ['svc rollback cache --yes', 'svc rollback cache --to 1 --yes'],
    options: (command) =>
      wait(command).addOption(number('--to <generation>', 'the generation; default: the previous one')),
    load: async () => (await commands()).rollback,
  });
  add(program, 'open [deployment]', {
    summary: 'open the web page of a deployment, or the console, and print the address',
    examples: ['svc open cache', 'svc open --no-browser --at hub'],
    options: (command) => command.option('--no-browser', 'only print the address'),
    load: async () => (await commands()).open,
  });
}

function addUpdates(program: Command, add: Add, group: Group): void {
  const updates = () => import('./commands/updates.ts');
  add(program, 'update <deployment>', {
    summary: 'update a deployment to the present version of its template, and the latest known image of its tag',
    examples: ['svc update cache --dry-run', 'svc update cache --yes'],
    options: (command) =>
      variables(wait(command))
        .option('--force', 'also if the same configuration has failed before')
        .option('--dry-run', 'only show what would change; exit code 3 if something would'),
    load: async () => (await updates()).update,
  });
  const rollout = group('rollout', 'end or continue the rollout of a change');
  add(rollout, 'abort <deployment>', {
    summary: 'stop a rollout, and return to the last good generation',
    examples: ['svc rollout abort cache --yes'],
    options: wait,
    load: async () => (await updates()).abortRollout,
  });
  add(rollout, 'resume <deployment>', {
    summary: 'continue a rollout that is held',
    examples: ['svc rollout resume cache --yes'],
    options: wait,
    load: async () => (await updates()).resumeRollout,
  });
}

const files = (command: Command) =>
  command
    .addOption(repeated('-f, --file <path>', 'a file or folder with documents; -: stdin; repeatable'))
    .option('--set <name>', 'the set of objects that the files manage; default: default')
    .option('--prune', 'also remove the objects of the set that no file describes')
    .addOption(number('--max-deletions <count>', 'the most deletions of --prune; default: 10'))
    .option('--adopt', 'also manage objects that another set manages')
    .option('--title <text>', 'what the plan is for');

function addPlans(program: Command, add: Add, group: Group): void {
  const plans = () => import('./commands/plans.ts');
  add(program, 'apply', {
    summary: 'plan what files describe, and apply exactly that',
    examples: ['svc apply -f deploy.yaml --dry-run', 'svc apply -f deploy.yaml --set shop --yes'],
    options: (command) =>
      wait(files(command)).option('--dry-run', 'only show the plan; exit code 3 if something would change'),
    load: async () => (await plans()).apply,
  });
  add(program, 'diff', {
    summary: 'show the values that files change; exit code 3 if there are any',
    examples: ['svc diff -f deploy.yaml --set shop'],
    options: files,
    load: async () => (await plans()).diff,
  });
  add(program, 'export', {
    summary: 'print the documents of the deployments, whose plan is unchanged',
    examples: ['svc export', 'svc export --set shop -f exported.yaml'],
    options: (command) =>
      command
        .option('--set <name>', 'only objects of this set')
        .option('--name <name>', 'only the object with this name')
        .option('-f, --file <file>', 'write them to this new file'),
    load: async () => (await plans()).exportFiles,
  });
  const plan = group('plan', 'store, review and apply plans of files');
  add(plan, 'create', {
    summary: 'store the plan of files for a review, and print it; exit code 3 if something would change',
    examples: ['svc plan create -f deploy.yaml --set shop --title "merge request 12"'],
    options: files,
    load: async () => (await plans()).create,
  });
  add(plan, 'list', {
    summary: 'list the stored plans, the newest first',
    examples: ['svc plan list', 'svc plan list --state needs_approval --set shop'],
    options: (command) =>
      command
        .option('--state <states>', 'states, separated by commas')
        .option('--set <name>', 'only plans of this set')
        .addOption(number('--limit <count>', 'at most this many, up to 100').default(20)),
    load: async () => (await plans()).list,
  });
  add(plan, 'show <id>', {
    summary: 'show a stored plan',
    examples: ['svc plan show "$PLAN"'],
    load: async () => (await plans()).show,
  });
  add(plan, 'apply <id>', {
    summary: 'apply a stored plan exactly as it was decided',
    examples: ['svc plan apply "$PLAN" --yes'],
    options: wait,
    load: async () => (await plans()).applyStored,
  });
  add(plan, 'approve <id>', {
    summary: 'approve a stored plan that somebody else, a program or an agent has made',
    examples: ['svc plan approve "$PLAN" --yes'],
    load: async () => (await plans()).approve,
  });
  add(plan, 'reject <id>', {
    summary: 'reject a stored plan, which can then no longer be applied',
    examples: ['svc plan reject "$PLAN" --reason "one at a time" --yes'],
    options: (command) => command.option('--reason <text>', 'for whoever made the plan'),
    load: async () => (await plans()).reject,
  });
}

function addSources(add: Add, group: Group): void {
  const sources = () => import('./commands/sources.ts');
  const source = group('source', 'follow branches of git repositories, whose files become plans');
  add(source, 'list', {
    summary: 'list the sources with their commits and plans',
    examples: ['svc source list', 'svc source list -o json'],
    load: async () => (await sources()).list,
  });
  add(source, 'show <name>', {
    summary: 'show a source: what it has read, and why it fails',
    examples: ['svc source show shop'],
    load: async () => (await sources()).show,
  });
  add(source, 'add <name> <url>', {
    summary: 'follow a branch of a repository; --token - reads a token from stdin',
    examples: [
      'svc source add shop https://git.example.com/team/shop.git --folder deploy --yes',
      'svc source add shop https://git.example.com/team/shop.git --mode automatic --token - --yes < token.txt',
    ],
    options: (command) =>
      command
        .option('--branch <name>', 'the branch; default: main')
        .option('--folder <path>', 'the folder whose files apply; default: all')
        .option('--set <name>', 'the set of objects that the files manage; default: the name')
        .option('--token <->', '-: read a token that can read the repository from stdin')
        .addOption(
          new Option('--mode <mode>', 'who applies the plans; default: manual').choices(['manual', 'automatic']),
        )
        .option('--heal', 'with automatic: also revert changes by hand')
        .addOption(
          new Option('--removed <what>', 'what happens to objects whose documents are gone; default: ask').choices([
            'never',
            'ask',
            'automatic',
          ]),
        )
        .addOption(number('--interval <seconds>', 'seconds between two checks; default: 300'))
        .option('-w, --wait', 'wait until the repository was read; exit code 1 if it could not be'),
    load: async () => (await sources()).add,
  });
  add(source, 'check <name>', {
    summary: 'have the repository read now',
    examples: ['svc source check shop', 'svc source check shop --wait'],
    options: (command) =>
      command.option(
        '-w, --wait',
        'wait until the repository was read, and show the source; exit code 1 if it could not be',
      ),
    load: async () => (await sources()).check,
  });
  add(source, 'enable <name>', {
    summary: 'enable a source; its plans are then made with your rights',
    examples: ['svc source enable shop --yes'],
    load: async () => (await sources()).enable,
  });
  add(source, 'disable <name>', {
    summary: 'disable a source; nothing that runs changes',
    examples: ['svc source disable shop --yes'],
    load: async () => (await sources()).disable,
  });
  add(source, 'rm <name>', {
    summary: 'delete a source; all objects stay, and are no longer managed by files',
    examples: ['svc source rm shop --yes'],
    load: async () => (await sources()).remove,
  });
}

function addTargets(add: Add, group: Group): void {
  const commands = () => import('./commands/targets.ts');
  add(group('host', 'add hosts'), 'add <name> [address]', {
    summary: 'register a machine with Docker or Podman',
    examples: [
      'svc host add machine-1 "$ENGINE" --network mesh=10.1.2.3 --yes',
      'svc host add machine-2 --docker-context machine-2 --yes',
    ],
    options: (command) =>
      command
        .option('--tls <place>', 'a folder with ca.pem, cert.pem and key.pem, or one PEM file with all of them')
        .option('--docker-context <name>', 'the address and the TLS files of a context of Docker')
        .addOption(new Option('--engine <engine>', 'the engine').choices(['docker', 'podman']).default('docker'))
        .addOption(repeated('--network <TYPE=ADDRESS>', 'a network, with the address of the host in it; repeatable'))
        .addOption(repeated('-l, --label <KEY=VALUE>', 'a label; repeatable')),
    load: async () => (await commands()).addHost,
  });
  add(group('cluster', 'add clusters'), 'add <name>', {
    summary: 'register a Kubernetes cluster with a context of a kubeconfig',
    examples: ['svc cluster add lab --context lab --kubeconfig kubeconfig.yaml --yes'],
    options: (command) =>
      command
        .requiredOption('--context <name>', 'the context of the kubeconfig')
        .option('--kubeconfig <file>', 'the file; default: that of KUBECONFIG, or ~/.kube/config')
        .option('--namespace <name>', 'the namespace of all objects; default: that of the context, or fleet')
        .addOption(repeated('--network <type>', 'a network; repeatable'))
        .addOption(repeated('-l, --label <KEY=VALUE>', 'a label; repeatable')),
    load: async () => (await commands()).addCluster,
  });
}

function addCredentials(add: Add, group: Group): void {
  const commands = () => import('./commands/credentials.ts');
  add(group('secret', 'set secrets'), 'set <name> <values...>', {
    summary: 'create a secret, or replace its values: KEY=- from stdin, KEY=@file from a file',
    examples: [
      'svc secret set database password=- --yes < password.txt',
      'svc secret set database password=@password.txt --yes',
    ],
    options: (command) =>
      command
        .addOption(
          new Option('--kind <kind>', 'of a new secret').choices(['opaque', 'registry', 'tls']).default('opaque'),
        )
        .option('--server <host>', 'of a new secret of the kind registry: the registry')
        .option('--replace', 'remove the other keys of the secret'),
    load: async () => (await commands()).setSecret,
  });
  const token = group('token', 'create, rotate and revoke MCP tokens');
  add(token, 'create <name>', {
    summary: 'create an MCP token, and print it once',
    examples: ['svc token create ci --role operator --days 90 --yes'],
    options: (command) =>
      command
        .addOption(new Option('--role <role>', 'the role').choices(['admin', 'operator', 'viewer']).default('viewer'))
        .addOption(number('--days <count>', 'its lifetime, up to 365; default: it does not expire')),
    load: async () => (await commands()).createToken,
  });
  add(token, 'rotate <name>', {
    summary: 'replace the secret of a token, and print it once',
    examples: ['svc token rotate ci --yes'],
    load: async () => (await commands()).rotateToken,
  });
  add(token, 'revoke <name>', {
    summary: 'revoke a token, and the tokens that were created with it',
    examples: ['svc token revoke ci --yes'],
    options: (command) => command.option('--keep-dependents', 'keep the tokens that were created with it'),
    load: async () => (await commands()).revokeToken,
  });
}

function addTrust(add: Add, group: Group): void {
  const commands = () => import('./commands/trust.ts');
  const trust = group('trust', 'verify who has signed what a fleet runs, for admins');
  add(trust, 'show', {
    summary: 'show the policy, and the publishers that the fleet trusts',
    examples: ['svc trust show', 'svc trust show -o yaml'],
    load: async () => (await commands()).show,
  });
  add(trust, 'add <publisher>', {
    summary: 'trust a publisher by its root key, and print the thumbprint of the key',
    examples: ["svc trust add example --root root.pem.pub --image 'docker.io/library/*' --yes"],
    options: (command) =>
      command
        .requiredOption('--root <file>', 'the public root key, which you have not got from the hub')
        .option('--name <name>', 'its name; default: its slug')
        .addOption(
          repeated('--image <pattern>', 'the images that it may publish, such as docker.io/library/*; repeatable'),
        )
        .addOption(repeated('--slug <pattern>', 'the templates that it may publish; default: all; repeatable'))
        .addOption(repeated('--secret <pattern>', 'the secrets that its templates may use; repeatable')),
    load: async () => (await commands()).add,
  });
  add(trust, 'keyring <publisher> <file>', {
    summary: 'import the keyring of a publisher from its keyring.json, without a hub',
    examples: ['svc trust keyring example signed/keyring.json --yes'],
    load: async () => (await commands()).importKeyring,
  });
  add(trust, 'plan', {
    summary: 'show what the policy would refuse if it required trust',
    examples: ['svc trust plan', 'svc trust plan -o json'],
    load: async () => (await commands()).plan,
  });
  add(trust, 'mode <mode>', {
    summary: 'set the mode of the policy: off, warn or require',
    examples: ['svc trust mode warn --yes', 'svc trust mode off --yes'],
    load: async () => (await commands()).setMode,
  });
  add(trust, 'remove <publisher>', {
    summary: 'no longer trust a publisher',
    examples: ['svc trust remove example --yes'],
    load: async () => (await commands()).remove,
  });
}

function addHub(add: Add, group: Group): void {
  const commands = () => import('./commands/hub.ts');
  const publish = () => import('./commands/publish.ts');
  const hub = group('hub', 'administer a hub');
  add(hub, 'import <folder>', {
    summary: 'apply a folder of catalog files to the hub',
    examples: ['svc hub import catalog --dry-run', 'svc hub import catalog --prune --yes'],
    options: (command) =>
      command
        .option('--prune', 'also delete what no file describes')
        .addOption(number('--max-deletions <count>', 'the most deletions of --prune; default: 10'))
        .option('--message <text>', 'why, for the history of the templates')
        .option('--dry-run', 'only show what would change; exit code 3 if something would'),
    load: async () => (await publish()).importFolder,
  });
  add(hub, 'export <folder>', {
    summary: 'write the catalog of the hub to a folder, only the files that differ',
    examples: ['svc hub export catalog', 'svc hub export catalog --prune --yes'],
    options: (command) => command.option('--prune', 'also delete the files of templates that the hub does not have'),
    load: async () => (await publish()).exportFolder,
  });
  const histories = () => import('./commands/history.ts');
  const kind = () =>
    new Option('--kind <kind>', 'what the slug is of').choices(['template', 'application']).default('template');
  add(hub, 'history <slug>', {
    summary: 'list the revisions of a template or an application, also of a deleted one',
    examples: ['svc hub history redis', 'svc hub history redis --limit 5 -o json'],
    options: (command) =>
      command.addOption(number('--limit <count>', 'the most revisions').default(20)).addOption(kind()),
    load: async () => (await histories()).history,
  });
  add(hub, 'restore <slug> <revision>', {
    summary: 'give a template or an application the content of an earlier revision, also if it was deleted',
    examples: ['svc hub restore redis 1 --message "The new image does not start" --yes'],
    options: (command) =>
      command.option('--message <text>', 'why, for the history and the changelog').addOption(kind()),
    load: async () => (await histories()).restore,
  });
  add(hub, 'advise <slug>', {
    summary: 'publish an advisory about revisions of a template or an application, and print its id',
    examples: ['svc hub advise redis --severity warning --message "Update to 1.1" --from 1 --to 1 --yes'],
    options: (command) =>
      command
        .requiredOption('--severity <severity>', 'note, warning or critical')
        .requiredOption('--message <text>', 'what is wrong, and what to do')
        .addOption(number('--from <revision>', 'the first revision that it concerns').makeOptionMandatory())
        .addOption(number('--to <revision>', 'the last one; default: also all later ones'))
        .option('--url <url>', 'an https URL with more information')
        .addOption(kind()),
    load: async () => (await histories()).advise,
  });
  add(hub, 'withdraw <slug> <advisory>', {
    summary: 'withdraw an advisory',
    examples: ['svc hub withdraw redis "$(svc hub advise redis --severity note --message x --from 1 --yes)" --yes'],
    options: (command) => command.addOption(kind()),
    load: async () => (await histories()).withdrawAdvisory,
  });
  add(hub, 'grant <organization> <category>', {
    summary: 'let an organization see a private category',
    examples: ['svc hub grant demo internal --yes', 'svc hub grant demo internal --revoke --yes'],
    options: (command) => command.option('--revoke', 'revoke the grant'),
    load: async () => (await commands()).grant,
  });
  const key = hub
    .command('key')
    .description('API keys of your organization, or as an administrator of another one.')
    .summary('API keys of organizations')
    .helpCommand(false);
  const org = (command: Command) => command.option('--org <slug>', 'another organization (administrators)');
  add(key, 'list', {
    summary: 'list the keys',
    examples: ['svc hub key list', 'svc hub key list --org demo'],
    options: org,
    load: async () => (await commands()).listKeys,
  });
  add(key, 'create <name>', {
    summary: 'create a key, and print it once',
    examples: ['svc hub key create build --yes', 'svc hub key create build --org demo --days 90 --yes'],
    options: (command) => org(command).addOption(number('--days <count>', 'its lifetime; default: it does not expire')),
    load: async () => (await commands()).createKey,
  });
  add(key, 'rotate <name>', {
    summary: 'replace the secret of a key of your organization, and print it once',
    examples: ['svc hub key rotate build --yes'],
    load: async () => (await commands()).rotateKey,
  });
  add(key, 'revoke <name>', {
    summary: 'revoke a key permanently',
    examples: ['svc hub key revoke build --yes', 'svc hub key revoke build --org demo --yes'],
    options: org,
    load: async () => (await commands()).revokeKey,
  });
}

function addAudit(add: Add, group: Group): void {
  add(group('audit', 'read the audit log (administrators)'), 'tail', {
    summary: 'print the newest entries of the audit log',
    examples: ['svc audit tail -n 5', 'svc audit tail --at hub -o json'],
    options: (command) =>
      command
        .addOption(number('-n, --number <count>', 'the number of entries, up to 1000').default(20))
        .option('-f, --follow', 'continue with new entries'),
    load: async () => (await import('./commands/audit.ts')).tail,
  });
}

/** Runs a command line. Resolves to its exit code. Errors are printed to stderr without a stack trace. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  const result: Result = { code: exitCodes.done };
  try {
    await createProgram(result).parseAsync([...args], { from: 'user' });
    return result.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    tell(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  }
}
