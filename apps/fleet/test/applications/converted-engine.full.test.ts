// Two converted files of a list on a real engine, with images of the programs that Debian installs. By default the files are those below;
// TEST_LISTS='caprover=<folder>' takes postgres.yml and prometheus.yml of that folder.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeWithPostgresPrograms, eventually, postgresPrograms } from '@svc/testing';
import { describeWithEngine, importPrograms, programAt } from '@svc/testing/engine';
import { type MachineWorld, startMachineWorld } from '../reconciler/hosts/world.ts';
import { converted } from './converted.ts';

const variable = (id: string, defaultValue: string) => ({ id: `$$cap_${id}`, label: id, defaultValue });
const FILES = {
  'postgres.yml': {
    captainVersion: 4,
    services: {
      $$cap_appname: {
        image: 'postgres:$$cap_version',
        volumes: ['$$cap_appname-data:/var/lib/postgresql/data'],
        environment: {
          POSTGRES_USER: '$$cap_user',
          POSTGRES_PASSWORD: '$$cap_password',
          POSTGRES_DB: 'postgres',
          PGDATA: '/var/lib/postgresql/data',
        },
        caproverExtra: { notExposeAsWebApp: 'true' },
      },
    },
    caproverOneClickApp: {
      displayName: 'PostgreSQL',
      variables: [
        variable('version', '14.5'),
        variable('user', 'owner'),
        variable('password', '$$cap_gen_random_hex(16)'),
      ],
    },
  },
  'prometheus.yml': {
    captainVersion: 4,
    services: {
      $$cap_appname: {
        image: 'prom/prometheus:v3.5.0',
        volumes: ['$$cap_appname-config:/etc/prometheus', '$$cap_appname-data:/prometheus'],
        caproverExtra: { containerHttpPort: '9090' },
      },
    },
    caproverOneClickApp: { displayName: 'Prometheus', variables: [] },
  },
};

async function chosen() {
  const given = process.env.TEST_LISTS?.split(' ');
  const folder = await mkdtemp(path.join(tmpdir(), 'files-'));
  for (const [name, file] of Object.entries(FILES)) await writeFile(path.join(folder, name), JSON.stringify(file));
  const all = await converted(given ?? [`caprover=${folder}`]);
  await rm(folder, { recursive: true });
  return (name: keyof typeof FILES) => {
    const { application } = all.find((each) => each.list === 'caprover' && each.name === name) ?? {};
    if (application === undefined) throw new Error(`${name} has no application`);
    const { inputs, generated = [], parts } = application;
    return { inputs, generated, parts };
  };
}

/** What the image of PostgreSQL does when it starts: it creates the database with the password of its variables. */
const START = `#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile /tmp/password --auth scram-sha-256 --locale C $POSTGRES_INITDB_ARGS
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
fi
exec postgres -D "$PGDATA" -k /tmp -c listen_addresses=*
`;

describeWithPostgresPrograms('converted files of a list', () => {
  describeWithEngine('on an engine', () => {
    let world: MachineWorld;
    let target: { readonly host_id: string };
    let specOf: Awaited<ReturnType<typeof chosen>>;

    beforeAll(async () => {
      world = await startMachineWorld();
      specOf = await chosen();
      const { id } = await world.aHost({ network_types: ['mesh'], addresses: { mesh: '127.0.0.1' } });
      await world.hostIs(id, 'online');
      target = { host_id: id };
      const bin = postgresPrograms() ?? '';
      const version = path.basename(path.dirname(bin));
      const postgres = {
        programs: ['postgres', 'initdb', 'psql'].map((name) => path.join(bin, name)),
        data: [path.join(bin, '../lib'), `/usr/share/postgresql/${version}`, '/usr/share/zoneinfo'],
        files: { 'start.sh': START },
        folders: ['var/lib/postgresql/data'],
        user: { name: 'postgres', id: 70 },
        entrypoint: ['/start.sh'],
      };
      const prometheus = {
        programs: [programAt('prometheus') ?? ''],
        files: { 'etc/prometheus/prometheus.yml': 'global: { scrape_interval: 1s }\n' },
        entrypoint: ['prometheus'],
        command: ['--config.file=/etc/prometheus/prometheus.yml', '--storage.tsdb.path=/prometheus'],
      };
      for (const [name, image] of [
        ['postgres.yml', postgres],
        ['prometheus.yml', prometheus],
      ] as const) {
        const [part] = specOf(name).parts;
        const reference = `docker.io/${part?.image_name}:${part?.image_tag}`;
        await importPrograms(world.podman, { reference, ...image });
      }
    });
    afterAll(() => world?.stop());

    const ends = (id: string, expected: { readonly generation: number; readonly outcome: string }) =>
      eventually(`the application ends as ${JSON.stringify(expected)}`, () => application(id), {
        until: ({ generation, outcome, phase }) =>
          generation === expected.generation && outcome === expected.outcome && phase === 'running',
        withinMs: 60_000,
      });
    const application = async (id: string) =>
      (await world.good(world.api.get(`/api/v1/applications/${id}`))).application;

    /** A registry that does not respond is asked again until the deadline. */
    const updates = { ready_seconds: 0, deadline_seconds: 20 };
    const deployed = async (name: keyof typeof FILES) => {
      const spec = specOf(name);
      const { application } = await world.good(
        world.api.post('/api/v1/applications', {
          name: name.split('.')[0],
          spec,
          target,
          on_failure: 'roll_back',
          updates,
        }),
      );
      await ends(application.id, { generation: 1, outcome: 'good' });
      return { id: application.id, deployment: application.parts[0].deployment_id, spec };
    };
    const inside = async (deployment: string, command: string) => {
      const [container] = await world.containers(deployment);
      return world.podman.byHand('exec', container?.name ?? '', '/bin/sh', '-c', command);
    };
    /** An image of a registry that does not respond, and the return to the first one. */
    const returnsFromABrokenImage = async ({ id, spec }: Awaited<ReturnType<typeof deployed>>) => {
      const parts = spec.parts.map((part) => ({ ...part, registry_url: '127.0.0.1:1' }));
      await world.good(world.api.put(`/api/v1/applications/${id}`, { spec: { ...spec, parts } }));
      expect(await ends(id, { generation: 3, outcome: 'good' })).toMatchObject({ failed_generation: 2 });
    };

    test('a database accepts its generated password, and keeps its rows through a broken update', async () => {
      const database = await deployed('postgres.yml');
      const ask = (sql: string) =>
        inside(
          database.deployment,
          `PGPASSWORD=$POSTGRES_PASSWORD psql -h 127.0.0.1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -Atc "${sql}"`,
        );
      await eventually('the database is ready', () => ask('SELECT 1').catch(() => ''), {
        until: (text) => text === '1',
      });
      expect(await ask('CREATE TABLE kept AS SELECT 42 AS value; SELECT value FROM kept')).toMatch(/42$/);
      await expect(
        inside(database.deployment, 'PGPASSWORD=wrong psql -h 127.0.0.1 -U "$POSTGRES_USER" -Atc "SELECT 1"'),
      ).rejects.toThrow(/password authentication failed/);
      await returnsFromABrokenImage(database);
      await eventually('the database is ready', () => ask('SELECT value FROM kept').catch(() => ''), {
        until: (text) => text === '42',
      });
      await world.good(world.api.delete(`/api/v1/applications/${database.id}`));
      await eventually(
        'its container is removed',
        async () => (await world.containers(database.deployment)).length === 0,
      );
    });

    test('a program serves its page with the files of its image, before and after a broken update', async () => {
      const prometheus = await deployed('prometheus.yml');
      expect(await world.fetched(prometheus.deployment, '/-/ready')).toMatch(/is Ready/);
      await returnsFromABrokenImage(prometheus);
      expect(await world.fetched(prometheus.deployment, '/-/ready')).toMatch(/is Ready/);
      await world.good(world.api.delete(`/api/v1/applications/${prometheus.id}`));
      await eventually(
        'its container is removed',
        async () => (await world.containers(prometheus.deployment)).length === 0,
      );
    });
  }, ['prometheus', 'ldd']);
});
