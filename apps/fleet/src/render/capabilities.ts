/**
 * The capabilities of containers: the default of Docker without MKNOD and NET_RAW. Images that
 * start as root and then change to another user need most of them; docs/deployments.md states which
 * template needs which one.
 */
export const CAPABILITIES: readonly string[] = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

/** The other capabilities that Docker and Podman grant by default. */
export const DROPPED_BY_NAME: readonly string[] = ['MKNOD', 'NET_RAW'];
