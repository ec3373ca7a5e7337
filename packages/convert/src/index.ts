export { type Application, type ApplicationInput, type ApplicationPart, applicationYaml } from './application.ts';
export { convertCaprover } from './caprover/caprover.ts';
export { type Converted, convertCompose, MAX_FILE, type SourceFile } from './compose/compose.ts';
export { convertCoolify } from './coolify/coolify.ts';
export {
  type ConvertedList,
  convertPortainer,
  MAX_PORTAINER_LIST,
  type PortainerTemplate,
} from './portainer/portainer.ts';
export { type Entry, type Fate, type HarmlessReason, harmless } from './report.ts';
export { isSecretName, isSecretText } from './secret-names.ts';
