import { describe, expect, test } from '@jest/globals';
import { type RunCommand, readRunCommand } from '../src/fleet/deployments/image/docker-run.ts';
import { splitShellCommand } from '../src/fleet/deployments/image/shell-words.ts';

const words = (text: string) => splitShellCommand(text).words.map((word) => word.text);

describe('the words of a shell command', () => {
  test.each([
    ['spaces and tabs', 'a  b\tc', ['a', 'b', 'c']],
    ['single quotes', `'a "b" \\ $c'`, ['a "b" \\ $c']],
    ['double quotes', '"a \\"b\\" \\$c \\d \'e\'"', ['a "b" $c \\d \'e\'']],
    ['quotes inside a word', `a'b c'"d e"f`, ['ab cd ef']],
    ['an empty word', `a '' b`, ['a', '', 'b']],
    ['an escaped space', 'a\\ b', ['a b']],
    ['a line that a backslash continues', 'a \\\n  b\\\nc', ['a', 'bc']],
    ['lines of Windows', 'a \\\r\n b', ['a', 'b']],
    ['continued lines of other shells', 'a `\n b ^\n c', ['a', 'b', 'c']],
    ['a comment', 'a # b\n', ['a']],
    ['a number sign inside a word', 'a#b', ['a#b']],
    ['a quote that does not end', `a 'b c`, ['a', 'b c']],
  ])('%s', (_, text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test('a second command is not part of the first one', () => {
    for (const separator of [' && ', '; ', ' | ', '\n']) {
      expect(splitShellCommand(`a b${separator}c d`)).toMatchObject({ rest: 'c d' });
      expect(words(`a b${separator}c d`)).toEqual(['a', 'b']);
    }
  });

  test('a part that the shell would replace is marked, unless it is quoted', () => {
    const marked = (text: string) => splitShellCommand(text).words.map((word) => word.isExpanded);
    expect(marked('$HOME "$A" "$(pwd)" `pwd` ~/a')).toEqual([true, true, true, true, true]);
    expect(marked(`'$HOME' \\$HOME "\\$A" a~ $ 5$`)).toEqual([false, false, false, false, false, false]);
  });

  test('a long text is divided in one pass', () => {
    const count = 100_000;
    expect(words(`${'"a b" '.repeat(count)}`)).toHaveLength(count);
  });
});

/** A command that must be readable. */
function read(text: string): RunCommand {
  const run = readRunCommand(text);
  if (typeof run === 'string') throw new Error(`${text}: ${run}`);
  return run;
}

/** What a command with one option states, beside the image. */
const withOption = (option: string) => {
  const { image, omissions, ...run } = read(`docker run ${option} nginx`);
  expect(image).toBe('nginx');
  return { ...run, omitted: omissions.map(({ written, reason }) => `${written}: ${reason}`) };
};

const nothing = { command: [], variables: [], ports: [], volumes: [], temporary: [], omitted: [] };

describe('a docker run command', () => {
  test('as the documentation of an image prints it', () => {
    const text = `$ docker run -d \\
      --name some-postgres \\
      -e POSTGRES_PASSWORD="it's secret" -e PGDATA=/var/lib/postgresql/data/pgdata \\
      -v /custom/mount:/var/lib/postgresql/data \\
      -p 127.0.0.1:5432:5432/tcp --restart=unless-stopped \\
      docker.io/library/postgres:17 -c 'shared_buffers=256MB'`;
    expect(readRunCommand(text)).toEqual({
      image: 'docker.io/library/postgres:17',
      name: 'some-postgres',
      command: ['-c', 'shared_buffers=256MB'],
      variables: [
        { name: 'POSTGRES_PASSWORD', value: "it's secret" },
        { name: 'PGDATA', value: '/var/lib/postgresql/data/pgdata' },
      ],
      ports: [{ containerPort: 5432, protocol: 'TCP' }],
      volumes: [{ name: 'data', mountPath: '/var/lib/postgresql/data' }],
      temporary: [],
      omissions: [
        { written: '-v /custom/mount:/var/lib/postgresql/data', reason: 'host-path' },
        { written: '-p 127.0.0.1:5432:5432/tcp', reason: 'host-port' },
      ],
    });
  });

  test.each([
    'docker run nginx',
    'sudo docker run nginx',
    '# docker container run nginx',
    '/usr/bin/podman run nginx',
    'nerdctl --namespace x run -- nginx',
    'docker create nginx',
  ])('%s', (text) => {
    expect(read(text)).toEqual({
      image: 'nginx',
      command: [],
      variables: [],
      ports: [],
      volumes: [],
      temporary: [],
      omissions: [],
    });
  });

  test.each([
    [
      '-e A=1 --env A=2 --env=B="c d"',
      {
        variables: [
          { name: 'A', value: '2' },
          { name: 'B', value: 'c d' },
        ],
      },
    ],
    ['-eA=b=c', { variables: [{ name: 'A', value: 'b=c' }] }],
    ['-e A', { variables: [{ name: 'A', value: '' }], omitted: ['-e A: shell-value'] }],
    ['-e A="$B"', { variables: [{ name: 'A', value: '$B' }], omitted: ['-e A=$B: expansion'] }],
    ['--env-file .env', { omitted: ['--env-file .env: env-file'] }],
    ['-p 80', { ports: [{ containerPort: 80, protocol: 'TCP' }] }],
    ['-p53:53/udp', { ports: [{ containerPort: 53, protocol: 'UDP' }], omitted: ['-p53:53/udp: host-port'] }],
    ['-p [::1]:1:2', { ports: [{ containerPort: 2, protocol: 'TCP' }], omitted: ['-p [::1]:1:2: host-port'] }],
    [
      '-p 80-81',
      {
        ports: [
          { containerPort: 80, protocol: 'TCP' },
          { containerPort: 81, protocol: 'TCP' },
        ],
      },
    ],
    ['-p 1-9999', { omitted: ['-p 1-9999: invalid'] }],
    ['-p web', { omitted: ['-p web: invalid'] }],
    ['-v my_data:/data', { volumes: [{ name: 'my-data', mountPath: '/data' }] }],
    [
      '-v /data -v x:/a/data',
      {
        volumes: [
          { name: 'data', mountPath: '/data' },
          { name: 'x', mountPath: '/a/data' },
        ],
      },
    ],
    [
      '-v ./a:/a/data -v "$PWD":/b/data:ro',
      {
        volumes: [
          { name: 'data', mountPath: '/a/data' },
          { name: 'data-2', mountPath: '/b/data', read_only: true },
        ],
        omitted: ['-v ./a:/a/data: host-path', '-v $PWD:/b/data:ro: host-path'],
      },
    ],
    [
      '--mount type=volume,source=data,target=/d --mount type=tmpfs,target=/t --mount type=bind,src=/x,dst=/y,readonly',
      {
        volumes: [
          { name: 'data', mountPath: '/d' },
          { name: 'y', mountPath: '/y', read_only: true },
        ],
        temporary: [{ path: '/t', size: '64Mi' }],
        omitted: ['--mount type=tmpfs,target=/t: tmpfs-size', '--mount type=bind,src=/x,dst=/y,readonly: host-path'],
      },
    ],
    [
      '--tmpfs /run --read-only',
      { temporary: [{ path: '/run', size: '64Mi' }], readOnlyRoot: true, omitted: ['--tmpfs /run: tmpfs-size'] },
    ],
    ['--tmpfs /run:rw,size=1500k', { temporary: [{ path: '/run', size: '2Mi' }] }],
    ['--entrypoint /bin/sh -w /srv -u 1000:1000', { entrypoint: '/bin/sh', workingDir: '/srv', runAs: '1000:1000' }],
    ['-u nobody -w srv', { omitted: ['-u nobody: user-name', '-w srv: invalid'] }],
    ['--memory 512m', { memory: '512Mi' }],
    ['-m=1.5G', { memory: '1.5Gi' }],
    ['--memory 1000000', { memory: '1000000' }],
    ['--memory much', { omitted: ['--memory much: invalid'] }],
    ['--cpus .5', { cpu: '.5' }],
    ['--gpus 2', { gpus: 2 }],
    ['--gpus all', { gpus: 1, omitted: ['--gpus all: gpus'] }],
    [`--gpus '"device=0,2"'`, { gpus: 2, omitted: ['--gpus "device=0,2": gpus'] }],
    [
      '--shm-size=1g --init',
      {
        variables: [
          { name: 'SVC_SHM_SIZE', value: '1024Mi' },
          { name: 'SVC_INIT', value: 'true' },
        ],
      },
    ],
    ['--stop-timeout 5', { stopSeconds: 5 }],
    ['--restart on-failure:3', { omitted: ['--restart on-failure:3: restart'] }],
    ['--network host --net=x', { omitted: ['--network host: network', '--net=x: network'] }],
    [
      '--health-cmd "curl -f localhost" --health-interval 5s',
      { healthCommand: 'curl -f localhost', omitted: ['--health-interval 5s: health-timing'] },
    ],
    ['-dit --rm', { omitted: ['-i: terminal', '-t: terminal'] }],
    ['-itp 80', { ports: [{ containerPort: 80, protocol: 'TCP' }], omitted: ['-i: terminal', '-t: terminal'] }],
    ['--privileged -u 1000', { runAs: '1000', omitted: ['--privileged: unsupported'] }],
    ['--constructor x --toString=y', { omitted: ['--constructor x: unsupported', '--toString=y: unsupported'] }],
    ['--tty=false', {}],
  ])('the options %s', (option, expected) => {
    expect(withOption(option)).toEqual({ ...nothing, ...expected });
  });

  test('an image and arguments with variables of the shell are marked, and a second command is left out', () => {
    expect(read('docker run a:$TAG "$X" && docker ps').omissions).toEqual([
      { written: 'a:$TAG', reason: 'expansion' },
      { written: '$X', reason: 'expansion' },
      { written: 'docker ps', reason: 'rest' },
    ]);
  });

  test.each([
    ['', 'program'],
    ['kubectl run nginx', 'program'],
    ['docker ps', 'program'],
    ['docker run', 'image'],
    ['docker run -p', 'image'],
    ['docker run --name', 'image'],
  ])('%p is not one', (text, error) => {
    expect(readRunCommand(text)).toBe(error);
  });
});
