// The tables of settings in docs/configuration.md, from the schemas of the services. The allowed values are those that the error for an
// invalid value states.
import { schema as fleet } from '../../apps/fleet/src/config.ts';
import { schema as hub } from '../../apps/hub/src/config.ts';
import { parseFields } from '../../packages/contract/src/index.ts';
import { replaceTables } from '../../packages/contract/src/openapi/page-tables.ts';
import { auditDeliverySettings } from '../../packages/delivery/src/index.ts';
import { commonSettings, secretNamesOf } from '../../packages/http/src/index.ts';

/** A value that every setting rejects if it does not accept any text. */
const INVALID = '\u0000';

export function withSettings(page) {
  const common = Object.keys({ ...commonSettings({ port: '0' }), ...auditDeliverySettings });
  const own = (schema) => Object.keys(schema.shape).filter((name) => !common.includes(name));
  return replaceTables('docs/configuration.md', page, {
    'common settings': table(common, { hub, fleet }),
    'hub settings': table(own(hub), { hub }),
    'fleet settings': table(own(fleet), { fleet }),
  });
}

function table(names, services) {
  return [
    '| variable | default | allowed values | meaning | secret, with its file |',
    '|---|---|---|---|---|',
    ...names.map((name) => row(name, services)),
  ];
}

function row(name, services) {
  const schemas = Object.values(services);
  const [setting] = schemas.map(({ shape }) => shape[name]);
  const { description } = setting.meta() ?? {};
  if (description === undefined) throw new Error(`${name} has no description. Describe it in its schema.`);
  const file = secretNamesOf(schemas[0]).includes(name) ? `\`${name}_FILE\`` : '';
  const cells = [`\`${name}\``, defaultOf(name, services), allowedBy(setting), description, file];
  return `${cells.map((cell) => `|${cell && ` ${cell}`} `).join('')}|`;
}

/** The default, or the default of each service if they differ. */
function defaultOf(name, services) {
  const defaults = Object.entries(services).map(([service, { shape }]) => [service, shownDefault(shape[name])]);
  if (new Set(defaults.map(([, value]) => value)).size === 1) return defaults[0][1];
  return defaults.map(([service, value]) => `${value} (${service})`).join(', ');
}

function shownDefault(setting) {
  if (!setting.safeParse(undefined).success) return 'required';
  const value = setting.meta()?.default ?? declaredDefault(setting);
  return value === undefined || value === '' ? '' : `\`${value}\``;
}

/** The text that a schema parses if the variable is not set, or undefined. */
function declaredDefault({ def }) {
  if (def.type === 'default' || def.type === 'prefault') return def.defaultValue;
  const inner = def.innerType ?? def.in;
  return inner && declaredDefault(inner);
}

function allowedBy(setting) {
  const { success, errors, data } = parseFields(setting, INVALID);
  if (success) return Array.isArray(data) ? 'a comma-separated list' : 'text';
  const [{ message }] = errors; // it can end with the value that was given
  const allowed = message.replace(/^must (be|have) /, '').replace(/; (invalid|unknown): .*$/s, '');
  return allowed.replace(/[<|]/g, '\\$&');
}
