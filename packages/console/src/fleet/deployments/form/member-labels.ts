import controls from 'virtual:template-controls';
import { declaredText, t } from '../../../shared/texts/texts.ts';

/** What the form calls the members of a request, by the first part of the path of a reason. */
const labels: Readonly<Record<string, string>> = {
  name: t('Name'),
  target: t('Target'),
  replicas: t('Replicas'),
  autoscaling: t('Autoscaling'),
  scaled_by: t('Number of replicas'),
  template: t('Template'),
  acknowledge: t('Acknowledgement'),
  env: t('Variable'),
  host_ports: t('Ports of the host'),
  volumes: t('Volume'),
  phase: t('State'),
  image_name: t('Image'),
  registry_url: t('Registry'),
  registry_credentials: t('Pull secret'),
  secret_refs: t('Secret'),
  volume_mounts: t('Volumes'),
  tolerations: t('Tolerations'),
  cpu_limit: t('CPU limit'),
  memory_limit: t('Memory limit'),
  run_as: t('User'),
  updates: t('Updates'),
  service_account_token: t('Token for the API of the cluster'),
};

/** The place of a reason in words of the form: `Variable`, and `GREETING` in `env.GREETING`. */
export function placeOf(path: string): { readonly label: string; readonly name: string } {
  const [head = '', ...rest] = path.split('.');
  const isNamed = ['env', 'volumes', 'host_ports'].includes(head);
  return { label: labels[head] ?? wordsOfMember(head) ?? t('Request'), name: isNamed ? rest.join('.') : '' };
}

/** What forms call a member of a template; undefined if they do not have it. */
export function wordsOfMember(member: string): string | undefined {
  const control = controls.find(({ name }) => name === member);
  return control && declaredText(control.label);
}
