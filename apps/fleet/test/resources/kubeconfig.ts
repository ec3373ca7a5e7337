/** A kubeconfig that would run a program on the machine of the fleet. */
export const KUBECONFIG = `apiVersion: v1
kind: Config
users:
- name: somebody
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [-c, "touch /tmp/owned"]}
`;
