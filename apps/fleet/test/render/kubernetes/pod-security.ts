import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';

const BASELINE = [
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
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const SECCOMP = ['RuntimeDefault', 'Localhost'];

/**
 * The checks of the Pod Security Standards that a pod fails, by the names that Pod Security admission
 * has for them (https://kubernetes.io/docs/concepts/security/pod-security-standards).
 */
export function violationsOf(spec: IPodSpec, level: 'baseline' | 'restricted'): string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const contexts = containers.map(({ securityContext = {} }) => securityContext);
  const added = contexts.map(({ capabilities }) => capabilities?.add ?? []);
  const isRestricted = level === 'restricted';
  const failed: Readonly<Record<string, boolean>> = {
    'host namespaces': spec.hostNetwork === true || spec.hostPID === true || spec.hostIPC === true,
    privileged: contexts.some(({ privileged }) => privileged === true),
    capabilities: added.some((names) => names.some((name) => !BASELINE.includes(name))),
    hostPath: (spec.volumes ?? []).some((volume) => 'hostPath' in volume),
    hostPort: containers.some(({ ports = [] }) => ports.some(({ hostPort }) => hostPort)),
    seccomp: [spec.securityContext, ...contexts].some((context) => context?.seccompProfile?.type === 'Unconfined'),
    'restricted volume types':
      isRestricted &&
      (spec.volumes ?? []).some((volume) =>
        Object.keys(volume).some((key) => key !== 'name' && !VOLUMES.includes(key)),
      ),
    allowPrivilegeEscalation:
      isRestricted && contexts.some(({ allowPrivilegeEscalation }) => allowPrivilegeEscalation !== false),
    runAsNonRoot:
      isRestricted && contexts.some((context) => (context.runAsNonRoot ?? spec.securityContext?.runAsNonRoot) !== true),
    runAsUser: isRestricted && [spec.securityContext, ...contexts].some((context) => context?.runAsUser === 0),
    seccompProfile:
      isRestricted &&
      contexts.some(
        (context) =>
          !SECCOMP.includes(context.seccompProfile?.type ?? spec.securityContext?.seccompProfile?.type ?? ''),
      ),
    'unrestricted capabilities':
      isRestricted &&
      contexts.some(
        ({ capabilities }) =>
          !capabilities?.drop?.includes('ALL') || (capabilities.add ?? []).some((name) => name !== 'NET_BIND_SERVICE'),
      ),
  };
  return Object.keys(failed).filter((check) => failed[check]);
}
