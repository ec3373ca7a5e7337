// A simulated autoscaler: adds a simulated node to a pool when a pod is pending that fits an empty node of the pool, and removes nodes that run
// no pod. See README.md.
//
//   node infra/cluster/autoscaler.mjs <kubeconfig of an administrator> [--pool gpu] [--cpu 8] [--memory 64Gi] [--gpu 1]
//     [--label nvidia.com/gpu.memory=81920]... [--taint nvidia.com/gpu=present:NoSchedule]... [--max 3] [--idle-seconds 600]
//
// Runs until Ctrl-C. Prints a line for each node that it adds or removes.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { callerOf } from './lab/caller.mjs';
import { repeat } from './lab/repeat.mjs';
import { emptyNodes, podsForNewNodes } from './nodes/pool.mjs';
import { simulatedNode } from './nodes/simulated.mjs';

const { parse } = createRequire(new URL('../../packages/testing/package.json', import.meta.url))('yaml');

const INTERVAL_MS = 500;
const POOL_LABEL = 'cluster.test/pool';
const text = (value) => ({ type: 'string', default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{
      pool: text('gpu'),
      cpu: text('8'),
      memory: text('64Gi'),
      gpu: text('1'),
      max: text('3'),
      'idle-seconds': text('600'),
    },
    label: { type: 'string', multiple: true, default: [] },
    taint: { type: 'string', multiple: true, default: [] },
  },
});
const [file] = positionals;
if (!file) {
  console.error('Usage: node infra/cluster/autoscaler.mjs <kubeconfig of an administrator> [options]');
  process.exit(2);
}
const { clusters, users } = parse(readFileSync(file, 'utf8'));
const { server, 'certificate-authority': ca } = clusters[0].cluster;
const call = callerOf({ server, ca: readFileSync(ca, 'utf8'), token: users[0].user.token });

const pool = {
  capacity: { cpu: values.cpu, memory: values.memory, ...(values.gpu !== '0' && { 'nvidia.com/gpu': values.gpu }) },
  labels: { [POOL_LABEL]: values.pool, ...Object.fromEntries(values.label.map((each) => each.split('='))) },
  taints: values.taint.map((each) => {
    const [, key, value, effect] = /^([^=]+)=([^:]*):(\w+)$/.exec(each) ?? [];
    if (!key) throw new Error(`The taint ${each} must have the form key=value:effect.`);
    return { key, value, effect };
  }),
  max: Number(values.max),
};
const idleMs = Number(values['idle-seconds']) * 1000;
const idleSince = new Map();

async function adjust() {
  const { body: nodes } = await call('GET', `/api/v1/nodes?labelSelector=${POOL_LABEL}%3D${values.pool}`);
  const { body: pods } = await call('GET', '/api/v1/pods');
  for (const group of podsForNewNodes(pool, nodes.items, pods.items)) await addNode(group);
  const empty = emptyNodes(nodes.items, pods.items);
  for (const name of idleSince.keys()) if (!empty.includes(name)) idleSince.delete(name);
  for (const name of empty) {
    if (!idleSince.has(name)) idleSince.set(name, Date.now());
    if (Date.now() - idleSince.get(name) < idleMs) continue;
    await call('DELETE', `/api/v1/nodes/${name}`);
    console.log(`removed ${name}`);
  }
}

async function addNode(pods) {
  const name = `${values.pool}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 6)}`;
  const { status, body } = await call('POST', '/api/v1/nodes', simulatedNode(name, pool));
  if (status !== 201) throw new Error(`${name} was not created: ${JSON.stringify(body)}`);
  console.log(`added ${name} for ${pods.map(({ metadata }) => metadata.name).join(', ')}`);
  for (const { metadata } of pods) await reportScaleUp(metadata, name);
}

/** The event that the autoscaler of Kubernetes reports for the pod. */
async function reportScaleUp({ namespace, name, uid }, node) {
  const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  await call('POST', `/api/v1/namespaces/${namespace}/events`, {
    ...{
      metadata: { name: `${name}.${Date.now().toString(16)}`, namespace },
      type: 'Normal',
      reason: 'TriggeredScaleUp',
    },
    ...{ message: `pod triggered scale-up: [{${values.pool} ${node}}]`, source: { component: 'cluster-autoscaler' } },
    ...{ involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid } },
    ...{ firstTimestamp: time, lastTimestamp: time, count: 1 },
  });
}

await repeat('the autoscaler', adjust, INTERVAL_MS);
