/** The namespace in which the policies that clusters usually have are all active. */
export const GOVERNED = 'governed';

/** The objects of that namespace with their API paths: the labels for the webhooks, a quota on requests and limits, and a LimitRange. */
const OBJECTS = [
  [
    '/api/v1/namespaces',
    {
      metadata: {
        name: GOVERNED,
        labels: {
          ...{
            'cluster.test/deny': 'latest-tag',
            'cluster.test/mutate': 'annotation',
            'cluster.test/require-label': 'team',
          },
          'pod-security.kubernetes.io/enforce': 'restricted',
        },
      },
    },
  ],
  [
    `/api/v1/namespaces/${GOVERNED}/resourcequotas`,
    {
      metadata: { name: 'governed' },
      spec: {
        hard: {
          ...{ 'requests.cpu': '4', 'limits.cpu': '8', 'requests.memory': '4Gi', 'limits.memory': '8Gi' },
          ...{ pods: '20', persistentvolumeclaims: '10', 'requests.storage': '100Gi' },
        },
      },
    },
  ],
  [
    `/api/v1/namespaces/${GOVERNED}/limitranges`,
    {
      metadata: { name: 'governed' },
      spec: {
        limits: [
          {
            ...{ type: 'Container', default: { cpu: '500m', memory: '256Mi' } },
            ...{ defaultRequest: { cpu: '100m', memory: '64Mi' }, max: { cpu: '2', memory: '4Gi' } },
          },
          { type: 'PersistentVolumeClaim', max: { storage: '50Gi' } },
        ],
      },
    },
  ],
];

export async function createGovernedNamespace(call) {
  for (const [path, object] of OBJECTS) {
    const { status, body } = await call('POST', path, object);
    if (status !== 201) throw new Error(`POST ${path} failed with ${status}: ${JSON.stringify(body)}`);
  }
}
