import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IService } from 'kubernetes-models/v1/Service';
import { portKey } from '../allocation.ts';
import { PODS_ARE_ISOLATED } from '../defaults.ts';
import { KEYS, nameServiceLabels, nameServiceName, objectName, selectorOf } from '../labels.ts';
import { settingsOf } from '../pod-settings.ts';
import { omitEmpty, portsOf, type Rendering } from '../rendering.ts';

/** The value of the label of all pods without an application. */
const ALONE = 'alone';

type Isolated = Pick<Rendering, 'defaults' | 'application'>;

const isIsolated = ({ defaults }: Isolated): boolean => defaults >= PODS_ARE_ISOLATED;

/** The label of the pods that reach all ports of each other: those of an application, or all without one. */
export const networkLabel = (rendering: Isolated): Readonly<Record<string, string>> =>
  isIsolated(rendering) ? { [KEYS.network]: rendering.application?.id ?? ALONE } : {};

/** The label of all objects of a part of an application. */
export const applicationLabel = (rendering: Isolated): Readonly<Record<string, string>> =>
  isIsolated(rendering) ? omitEmpty({ [KEYS.application]: rendering.application?.id ?? '' }) : {};

type Metadata = NonNullable<IService['metadata']>;
type Rule = NonNullable<NonNullable<INetworkPolicy['spec']>['ingress']>[number];

/**
 * The policy of a deployment, which admits connections to its pods: of its network, to published ports, and of deployments to the
 * ports whose addresses they have. The policies of all parts together isolate an application. Each has its own, because a policy
 * opens a port of all pods that it selects.
 */
export function networkPolicies(rendering: Rendering, metadata: Metadata, isSupported = false): INetworkPolicy[] {
  if (!isSupported || !isIsolated(rendering)) return [];
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { ...metadata, name: objectName(rendering) },
      spec: {
        podSelector: { matchLabels: selectorOf(rendering) },
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: { matchLabels: networkLabel(rendering) } }] }, ...exceptionsOf(rendering)],
      },
    },
  ];
}

/** A deployment without an application publishes all its ports. */
function exceptionsOf({ spec, application, admission }: Rendering): Rule[] {
  const ports = portsOf(spec);
  const { published = [], bound = [] } = admission ?? {};
  const open = application ? ports.filter((port) => published.includes(portKey(port))) : ports;
  const rule = (of: typeof ports, given: Rule): Rule[] =>
    // A rule without ports would open all of them.
    of.length === 0
      ? []
      : [{ ...given, ports: of.map(({ containerPort, protocol }) => ({ port: containerPort, protocol })) }];
  const closed = ports.filter((port) => !open.includes(port));
  const ofBound = closed.flatMap((port) => {
    const values = bound.flatMap((each) => (each.port === port.containerPort ? each.deployment : []));
    const podSelector = { matchExpressions: [{ key: KEYS.deployment, operator: 'In', values }] };
    return values.length === 0 ? [] : rule([port], { from: [{ podSelector }] });
  });
  return [...rule(open, {}), ...ofBound];
}

/**
 * The Service by which the pods of an application have names: a pod with the host name `database` is `database` in the domain of
 * the Service. All parts render the same one. The names of pods that are not ready exist as well.
 */
export function nameServices(rendering: Rendering, { namespace, labels, annotations }: NameMetadata): IService[] {
  const { application } = rendering;
  if (!application || !isIsolated(rendering)) return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: nameServiceName(application),
        namespace,
        labels: { ...labels, ...nameServiceLabels(application) },
        ...omitEmpty({ annotations }),
      },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: networkLabel(rendering) },
    },
  ];
}

interface NameMetadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** Whether an object has the names of an application, and so belongs to no single deployment. */
export const isNameService = ({ kind, metadata }: Named): boolean =>
  kind === 'Service' && metadata?.labels?.[KEYS.deployment] === undefined;

interface Named {
  readonly kind: string;
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The members of a pod by which the parts of an application find it and it finds them: by the names of the parts. */
export function podNames(
  rendering: Rendering,
  namespace: string,
): Pick<IPodSpec, 'hostname' | 'subdomain' | 'dnsConfig'> {
  const { application } = rendering;
  if (!application || !isIsolated(rendering)) return {};
  const subdomain = nameServiceName(application);
  return {
    hostname: application.part,
    subdomain,
    dnsConfig: { searches: [`${subdomain}.${namespace}.svc.${settingsOf(rendering).cluster_domain}`] },
  };
}
