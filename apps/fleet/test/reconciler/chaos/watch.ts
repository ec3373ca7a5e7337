import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** A container of the fleet as the engine lists it. */
export interface Shown {
  readonly id: string;
  readonly deployment: string;
  readonly ordinal: string;
  readonly state: string;
  readonly ports: readonly number[];
}

interface Listed {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly State: string;
  readonly Ports: readonly { readonly PublicPort?: number }[] | null;
}

/** Sends a request to an engine directly, without the proxy. */
export async function askEngine<T>(endpoint: string, path: string): Promise<T> {
  const answer = await new Promise<string>((resolve, reject) => {
    const asked = request({ socketPath: new URL(endpoint).pathname, path, agent: false });
    asked.once('response', (response) => text(response).then(resolve, reject)).once('error', reject);
    asked.end();
  });
  return JSON.parse(answer) as T; // a test fails if the response has another shape
}

export async function shownBy(endpoint: string): Promise<Shown[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: ['app.kubernetes.io/managed-by=fleet'] }));
  const all = await askEngine<Listed[]>(endpoint, `/v1.41/containers/json?all=true&filters=${filters}`);
  return all.map(({ Id, Labels, State, Ports }) => ({
    id: Id,
    deployment: Labels['fleet/deployment'] ?? '',
    ordinal: Labels['fleet/ordinal'] ?? '',
    state: State,
    ports: (Ports ?? []).flatMap(({ PublicPort }) => PublicPort ?? []),
  }));
}

const twice = <T>(items: readonly T[]): T[] => items.filter((item, index) => items.indexOf(item) !== index);

/** Replicas and ports that exist more than once. */
export const doubledIn = (shown: readonly Shown[]): string[] => [
  ...twice(shown.map(({ deployment, ordinal }) => `copy ${ordinal} of ${deployment}`)),
  ...twice(
    shown.filter(({ state }) => state === 'running').flatMap(({ ports }) => ports.map((port) => `port ${port}`)),
  ),
];

/**
 * Lists the containers of an engine repeatedly until `until` is aborted. @returns replicas and
 * ports that existed twice at any time
 */
export async function watchEngine(endpoint: string, until: AbortSignal): Promise<string[]> {
  const doubled: string[] = [];
  for (; !until.aborted; await pause(250)) doubled.push(...doubledIn(await shownBy(endpoint)));
  return doubled;
}

/**
 * A trigger that records each forbidden change of a deployment: a change by a process that does not
 * hold the lease, and a generation that decreases. The setting `fire.process` of each connection
 * names its process.
 */
export const WATCH_WRITES = `
  CREATE TABLE fire_claims (owner uuid PRIMARY KEY, process text);
  CREATE TABLE fire_wrong (what text);
  CREATE FUNCTION fire_watch() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    me text := current_setting('fire.process', true);
    holder text;
  BEGIN
    IF NEW.lease_owner IS NOT NULL AND NEW.lease_owner IS DISTINCT FROM OLD.lease_owner THEN
      INSERT INTO fire_claims VALUES (NEW.lease_owner, me);
    END IF;
    IF NEW.observed_generation < OLD.observed_generation OR NEW.observed_generation > NEW.generation
      OR NEW.generation < OLD.generation THEN
      INSERT INTO fire_wrong VALUES (format('%s: generation %s, observed %s, then %s and %s', OLD.name, OLD.generation,
        OLD.observed_generation, NEW.generation, NEW.observed_generation));
    END IF;
    IF NEW.observed_at IS DISTINCT FROM OLD.observed_at THEN
      SELECT process INTO holder FROM fire_claims WHERE owner = OLD.lease_owner;
      IF holder IS DISTINCT FROM me OR OLD.lease_until <= now() THEN
        INSERT INTO fire_wrong VALUES (format('%s: written by %s while %s had it until %s', OLD.name, me, holder, OLD.lease_until));
      END IF;
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER fire_watch BEFORE UPDATE ON deployments FOR EACH ROW EXECUTE FUNCTION fire_watch();`;
