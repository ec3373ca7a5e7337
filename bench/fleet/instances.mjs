// Compares the containers on simulated hosts with the deployments.

const GENERATION = 'fleet/generation';
const ORDINAL = 'fleet/ordinal';
const DEPLOYMENT = 'fleet/deployment';

const groupBy = (items, keyOf) => {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (groups.has(key)) groups.get(key).push(item);
    else groups.set(key, [item]);
  }
  return groups;
};

/**
 * @param creations all containers that were created, of the control port
 * @param deployments those that exist, all running
 * @returns the number of containers that exist, that are `wanted`, `missing` and `surplus`, that
 * existed at the same time as another one of the same instance, and that were created after one
 * with a later generation of the deployment
 */
export function countInstances(creations, deployments) {
  const sorted = creations.toSorted((one, other) => one.at - other.at);
  const existing = sorted.filter(({ removedAt }) => removedAt === null);
  const counts = new Map([...groupBy(existing, idOf)].map(([id, found]) => [id, found.length]));
  const wanted = new Map(deployments.map(({ id, replicas }) => [id, replicas]));
  const ids = new Set([...counts.keys(), ...wanted.keys()]);
  const differences = [...ids].map((id) => (counts.get(id) ?? 0) - (wanted.get(id) ?? 0));
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    existing: existing.length,
    wanted: sum([...wanted.values()]),
    missing: sum(differences.map((difference) => Math.max(0, -difference))),
    surplus: sum(differences.map((difference) => Math.max(0, difference))),
    twice: sum([...groupBy(sorted, instanceOf).values()].map(overlaps)),
    stale: sum([...groupBy(sorted, idOf).values()].map(staleCreations)),
  };
}

const idOf = ({ labels }) => labels[DEPLOYMENT];
const instanceOf = ({ labels }) => `${labels[DEPLOYMENT]} ${labels[ORDINAL]}`;

const overlaps = (containers) =>
  containers.filter(({ at }, index) =>
    containers.slice(0, index).some(({ removedAt }) => removedAt === null || removedAt > at),
  ).length;

function staleCreations(containers) {
  let latest = 0;
  let stale = 0;
  for (const { labels } of containers) {
    const generation = Number(labels[GENERATION]);
    if (generation < latest) stale += 1;
    latest = Math.max(latest, generation);
  }
  return stale;
}
