/** How a caller gives a secret value. */
export const HOW_TO_BIND = '{"generate": 32}, or {"secret": name, "key": key}';

/**
 * The messages of field errors that use names or the syntax of the API, by their codes. Problem
 * documents state the code, for which a console has a sentence. All other messages are written for
 * the readers of a form as well.
 */
export const codedMessages = {
  uuid: 'must be a UUID',
  env_value:
    'must be a string, {"generate": 16 to 128}, {"secret": name, "key": key}, {"deployment": name, "variable": name}, {"deployment": name, "port": number}, {"compose": text, "with": references}, {"value": text, "plain": true}, or {"sealed": true} for a value that is already sealed',
  bound_value:
    'must be a string, {"secret": name, "key": key}, {"deployment": name, "variable": name}, {"deployment": name, "port": number}, {"compose": text, "with": references} or {"value": text, "plain": true}',
  secret_text: `must not be text, because the variable is secret: send ${HOW_TO_BIND}, or {"value": text, "plain": true} for text that everybody can read`,
  composed_value:
    'must be {"secret": name, "key": key}, {"deployment": name, "variable": name} or {"deployment": name, "port": number}',
  composed_syntax: `must contain only placeholders such as \${name} and \${name|url}. $\${ stands for the text \${`,
  composed_text: 'must contain the value of a secret or of another deployment, because the variable is secret',
  not_sealed: 'must not be {"sealed": true}, because the variable has no sealed value',
  workload_secret: `must be empty: the variable is secret. A deployment sets it with ${HOW_TO_BIND}`,
  quantity: 'must be a Kubernetes quantity such as 500m, 2 or 8Gi, or "" for unset',
  image_name:
    'must be an image name without registry and tag, such as library/postgres; the registry is in registry_url',
  image_part: 'must not differ from that in image_name',
  address_network: 'must be for one of network_types of the host',
  client_secret_without_issuer: 'is required with a client_secret',
  key_without_hub: 'is required with an api_key',
  role_without_organization: 'must not be given if org_id is null',
} as const;

export type FieldCode = keyof typeof codedMessages;

// Object.keys loses the names of the members, and that there is at least one.
export const fieldCodes = Object.keys(codedMessages) as [FieldCode, ...FieldCode[]];

const codes: ReadonlyMap<string, FieldCode> = new Map(fieldCodes.map((code) => [codedMessages[code], code]));

/** The code of a message; undefined if the message is written for all readers. */
export const fieldCodeOf = (message: string): FieldCode | undefined => codes.get(message);
