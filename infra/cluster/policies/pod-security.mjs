// The checks of the Pod Security Standards, which Kubernetes 1.20 does not have, with the messages of Pod Security admission.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/

const BASELINE_CAPABILITIES = [
  ...[
    'AUDIT_WRITE',
    'CHOWN',
    'DAC_OVERRIDE',
    'FOWNER',
    'FSETID',
    'KILL',
    'MKNOD',
    'NET_BIND_SERVICE',
    'SETFCAP',
    'SETGID',
  ],
  ...['SETPCAP', 'SETUID', 'SYS_CHROOT'],
];
const RESTRICTED_CAPABILITIES = ['NET_BIND_SERVICE'];
const RESTRICTED_VOLUMES = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret'],
];
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];
const SYSCTLS = [
  ...[
    'kernel.shm_rmid_forced',
    'net.ipv4.ip_local_port_range',
    'net.ipv4.ip_unprivileged_port_start',
    'net.ipv4.tcp_syncookies',
  ],
  ...[
    'net.ipv4.ping_group_range',
    'net.ipv4.ip_local_reserved_ports',
    'net.ipv4.tcp_keepalive_time',
    'net.ipv4.tcp_fin_timeout',
  ],
  ...['net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes'],
];
const SECCOMP_TYPES = ['RuntimeDefault', 'Localhost'];
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

const quoted = (values) => values.map((value) => `"${value}"`).join(', ');

/**
 * The violations of a level, each as a sentence. An empty list means that the level permits the pod.
 *
 * @param level `baseline` or `restricted`, which includes `baseline`
 */
export function violationsOf(level, { metadata = {}, spec }) {
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  const checks = level === 'restricted' ? [...BASELINE, ...RESTRICTED] : BASELINE;
  return checks.map((check) => check({ metadata, spec, containers })).filter((violation) => violation !== undefined);
}

/** The containers that violate a rule, as a list for a message, or undefined if all comply. */
function offending(containers, complies, title, demand) {
  const list = containers.filter((each) => !complies(each.securityContext ?? {}, each));
  if (list.length === 0) return undefined;
  return `${title} (${list.length === 1 ? 'container' : 'containers'} ${quoted(list.map(({ name }) => name))} ${demand})`;
}

const BASELINE = [
  ({ spec }) => {
    const used = ['hostNetwork', 'hostPID', 'hostIPC'].filter((name) => spec[name] === true);
    return used.length === 0 ? undefined : `host namespaces (${used.map((name) => `${name}=true`).join(', ')})`;
  },
  ({ containers }) =>
    offending(
      containers,
      ({ privileged }) => privileged !== true,
      'privileged',
      'must not set securityContext.privileged=true',
    ),
  ({ containers }) => {
    const allows = (capability) => BASELINE_CAPABILITIES.includes(capability);
    return offending(
      containers,
      ({ capabilities }) => (capabilities?.add ?? []).every(allows),
      'non-default capabilities',
      `must not include ${quoted(addedBeyond(containers, BASELINE_CAPABILITIES))} in securityContext.capabilities.add`,
    );
  },
  ({ spec }) => {
    const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
    return names.length === 0 ? undefined : `hostPath volumes (volumes ${quoted(names)})`;
  },
  ({ containers }) => {
    const ports = containers
      .flatMap(({ ports = [] }) => ports.map(({ hostPort }) => hostPort ?? 0))
      .filter((port) => port !== 0);
    return ports.length === 0 ? undefined : `hostPort (${ports.join(', ')})`;
  },
  ({ metadata }) => {
    const values = Object.entries(metadata.annotations ?? {})
      .filter(
        ([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !/^(runtime\/default$|localhost\/|$)/.test(value),
      )
      .map(([key, value]) => `${key}="${value}"`);
    return values.length === 0 ? undefined : `forbidden AppArmor profiles (${values.join(', ')})`;
  },
  ({ spec, containers }) => {
    const options = [spec, ...containers].map((each) => each.securityContext?.seLinuxOptions ?? {});
    const complies = options.every(
      ({ type = '', user = '', role = '' }) => SELINUX_TYPES.includes(type) && !user && !role,
    );
    return complies ? undefined : 'seLinuxOptions (the type is not allowed, or user or role is set)';
  },
  ({ containers }) =>
    offending(
      containers,
      ({ procMount = 'Default' }) => procMount === 'Default',
      'procMount',
      'must not set securityContext.procMount',
    ),
  ({ spec, containers }) => {
    const types = [spec, ...containers].map((each) => each.securityContext?.seccompProfile?.type);
    return types.includes('Unconfined')
      ? 'seccompProfile (must not set securityContext.seccompProfile.type to "Unconfined")'
      : undefined;
  },
  ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !SYSCTLS.includes(name));
    return names.length === 0 ? undefined : `forbidden sysctls (${names.join(', ')})`;
  },
];

const RESTRICTED = [
  ({ spec }) => {
    const restricted = (spec.volumes ?? []).filter(
      (volume) => !Object.keys(volume).some((key) => RESTRICTED_VOLUMES.includes(key)),
    );
    if (restricted.length === 0) return undefined;
    return `restricted volume types (volumes ${quoted(restricted.map(({ name }) => name))})`;
  },
  ({ containers }) =>
    offending(
      containers,
      ({ allowPrivilegeEscalation }) => allowPrivilegeEscalation === false,
      'allowPrivilegeEscalation != false',
      'must set securityContext.allowPrivilegeEscalation=false',
    ),
  ({ spec, containers }) =>
    offending(
      containers,
      ({ runAsNonRoot = spec.securityContext?.runAsNonRoot }) => runAsNonRoot === true,
      'runAsNonRoot != true',
      'or their pod must set securityContext.runAsNonRoot=true',
    ),
  ({ spec, containers }) => {
    const users = [spec, ...containers].map((each) => each.securityContext?.runAsUser);
    return users.includes(0) ? 'runAsUser=0 (pod and containers must not set securityContext.runAsUser=0)' : undefined;
  },
  ({ spec, containers }) =>
    offending(
      containers,
      ({ seccompProfile = spec.securityContext?.seccompProfile }) => SECCOMP_TYPES.includes(seccompProfile?.type),
      'seccompProfile',
      `or their pod must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
    ),
  ({ containers }) => {
    const added = addedBeyond(containers, RESTRICTED_CAPABILITIES);
    const demand = 'must set securityContext.capabilities.drop=["ALL"]';
    return offending(
      containers,
      ({ capabilities }) =>
        (capabilities?.drop ?? []).includes('ALL') &&
        (capabilities?.add ?? []).every((each) => RESTRICTED_CAPABILITIES.includes(each)),
      'unrestricted capabilities',
      added.length === 0 ? demand : `${demand} and not include ${quoted(added)} in securityContext.capabilities.add`,
    );
  },
];

const addedBeyond = (containers, allowed) => [
  ...new Set(
    containers
      .flatMap(({ securityContext }) => securityContext?.capabilities?.add ?? [])
      .filter((each) => !allowed.includes(each)),
  ),
];
