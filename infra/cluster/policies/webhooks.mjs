// Admission webhooks. Each one applies to the namespaces that have its label, and the value of the label selects what it does.
import { createServer } from 'node:https';
import { CONTROL_PLANE, WEBHOOK_PORT } from '../lab/network.mjs';
import { MIRROR, SIDECAR_IMAGE } from '../nodes/config.mjs';
import { violationsOf } from './pod-security.mjs';

const CREATE = ['CREATE'];
const WRITE = ['CREATE', 'UPDATE'];
const WORKLOADS = ['deployments', 'jobs'];
const OBJECTS = [...WORKLOADS, 'services', 'secrets', 'configmaps', 'persistentvolumeclaims'];
const MARK = 'cluster.test/mutated';

/** A container that complies with the policies of the cluster, and runs until its pod is deleted. */
const SIDECAR = {
  ...{ name: 'injected-proxy', image: SIDECAR_IMAGE },
  command: ['sh', '-c', 'echo proxy is ready; trap "exit 0" TERM; while true; do sleep 1; done'],
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '32Mi' } },
  securityContext: {
    ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: 65_534, capabilities: { drop: ['ALL'] } },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

/**
 * The webhooks by name. `label` is the key of the label on namespaces. A validating one has `refusal(value, object)`, which returns the message
 * of a refusal or undefined. A mutating one has `patch(value, object)`, which returns the operations of a JSON patch.
 */
const WEBHOOKS = {
  deny: {
    ...{ label: 'cluster.test/deny', resources: [...WORKLOADS, 'pods'], operations: WRITE },
    refusal: (value, object) => {
      if (value === 'all') return 'the policy of this namespace denies all workloads';
      const image = imagesOf(object).find((each) => !/:[^/]+$/.test(each) || each.endsWith(':latest'));
      return image && `the image "${image}" must have a tag other than "latest"`;
    },
  },
  'require-label': {
    ...{ label: 'cluster.test/require-label', resources: OBJECTS, operations: WRITE },
    // Kubernetes creates tokens of service accounts itself.
    refusal: (key, object) =>
      object.type === 'kubernetes.io/service-account-token' ? undefined : missingLabel(key, object),
  },
  'require-pod-label': {
    ...{ label: 'cluster.test/require-pod-label', resources: ['pods'], operations: CREATE },
    refusal: (key, object) => missingLabel(key, object),
  },
  'pod-security': {
    ...{ label: 'pod-security.kubernetes.io/enforce', resources: ['pods'], operations: CREATE },
    refusal: (level, object) => {
      const violations = level === 'privileged' ? [] : violationsOf(level, object);
      return violations.length === 0 ? undefined : `violates PodSecurity "${level}:latest": ${violations.join(', ')}`;
    },
  },
  mutate: {
    ...{ label: 'cluster.test/mutate', resources: [...WORKLOADS, 'pods'], operations: WRITE },
    // Several values are separated by dots.
    patch: (value, object) => value.split('.').flatMap((each) => MUTATIONS[each]?.(object) ?? []),
  },
  // These do not work, as happens in clusters. The first one is never called with a dry run, because it declares side effects.
  'side-effects': {
    ...{
      label: 'cluster.test/side-effects',
      resources: [...WORKLOADS, 'pods'],
      operations: WRITE,
      sideEffects: 'Some',
    },
    refusal: () => undefined,
  },
  unreachable: {
    ...{ label: 'cluster.test/unreachable', resources: [...WORKLOADS, 'pods'], operations: WRITE, port: 1 },
    refusal: () => undefined,
  },
};

const MUTATIONS = {
  annotation: (object) => {
    const hosts = object.spec?.template ? ['', '/spec/template'] : [''];
    return hosts.flatMap((host) => {
      const { annotations } = (host ? object.spec.template.metadata : object.metadata) ?? {};
      if (annotations?.[MARK]) return [];
      const at = `${host}/metadata/annotations`;
      const mark = { op: 'add', path: `${at}/${MARK.replace('/', '~1')}`, value: 'true' };
      return annotations ? [mark] : [{ op: 'add', path: at, value: {} }, mark];
    });
  },
  sidecar: ({ kind, spec }) => {
    const isPresent = kind !== 'Pod' || spec.containers.some(({ name }) => name === SIDECAR.name);
    return isPresent ? [] : [{ op: 'add', path: '/spec/containers/-', value: SIDECAR }];
  },
  image: ({ kind, spec }) => {
    if (kind !== 'Pod') return [];
    return spec.containers.flatMap(({ image }, index) => {
      const mirrored = mirroredImage(image);
      return image === mirrored ? [] : [{ op: 'replace', path: `/spec/containers/${index}/image`, value: mirrored }];
    });
  },
};

/** The reference with the registry of the cluster instead of Docker Hub. */
export function mirroredImage(image) {
  const [first, ...rest] = image.split('/');
  if (rest.length === 0) return `${MIRROR}/library/${image}`;
  if (first === 'docker.io') return `${MIRROR}/${rest.join('/')}`;
  return first.includes('.') || first.includes(':') ? image : `${MIRROR}/${image}`;
}

const imagesOf = ({ spec }) => (spec.template?.spec ?? spec).containers.map(({ image }) => image);
const missingLabel = (key, { metadata }) =>
  metadata.labels?.[key] === undefined ? `the label "${key}" is required by the policy of this namespace` : undefined;

/** The response to an AdmissionReview for a namespace with these labels. Exported for tests. */
export function review(name, labels, { uid, object }) {
  const { label, refusal, patch } = WEBHOOKS[name];
  const value = labels[label];
  if (value === undefined) return { uid, allowed: true };
  if (refusal) {
    const message = refusal(value, object);
    return message === undefined
      ? { uid, allowed: true }
      : { uid, allowed: false, status: { code: 403, reason: 'Forbidden', message } };
  }
  const operations = patch(value, object);
  if (operations.length === 0) return { uid, allowed: true };
  return {
    uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  };
}

/** Serves the webhooks, and registers them with the API server. */
export async function serveWebhooks(call, { key, cert, ca }) {
  const server = createServer({ key, cert }, async (request, response) => {
    try {
      const { request: asked } = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'));
      const { body: namespace } = await call('GET', `/api/v1/namespaces/${asked.namespace}`);
      const answer = review(request.url.slice(1).split('?')[0], namespace.metadata.labels ?? {}, asked);
      const content = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer });
      response.writeHead(200, { 'content-type': 'application/json' }).end(content);
    } catch (error) {
      console.error(`a webhook failed: ${error.message}`);
      response.writeHead(500).end();
    }
  });
  await new Promise((resolve) => server.listen(WEBHOOK_PORT, CONTROL_PLANE, resolve));
  for (const name of Object.keys(WEBHOOKS)) await register(call, name, ca);
}

async function register(call, name, ca) {
  const { label, resources, operations, patch, sideEffects = 'None', port = WEBHOOK_PORT } = WEBHOOKS[name];
  // Only the older version of the API accepts webhooks with side effects.
  const version = sideEffects === 'None' ? 'v1' : 'v1beta1';
  const kind = patch ? 'mutatingwebhookconfigurations' : 'validatingwebhookconfigurations';
  const webhook = {
    ...{ name: `${name}.cluster.test`, sideEffects, failurePolicy: 'Fail', timeoutSeconds: 5 },
    ...{ admissionReviewVersions: ['v1'], reinvocationPolicy: patch && 'IfNeeded' },
    clientConfig: { url: `https://${CONTROL_PLANE}:${port}/${name}`, caBundle: Buffer.from(ca).toString('base64') },
    namespaceSelector: { matchExpressions: [{ key: label, operator: 'Exists' }] },
    rules: [{ operations, resources, apiGroups: ['', 'apps', 'batch'], apiVersions: ['v1'] }],
  };
  const { status, body } = await call('POST', `/apis/admissionregistration.k8s.io/${version}/${kind}`, {
    ...{ apiVersion: `admissionregistration.k8s.io/${version}`, metadata: { name: `${name}.cluster.test` } },
    webhooks: [webhook],
  });
  if (status !== 201) throw new Error(`The webhook ${name} was not registered: ${JSON.stringify(body)}`);
}
