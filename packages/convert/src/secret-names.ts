/** Names of variables whose values are probably secret. */
const SECRET_NAME = /PASS|PWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|ENCRYPTION_?KEY|CREDENTIAL/i;

/** Ends of names whose values say something about a secret. */
const ABOUT_SECRET =
  /(?:PATH|FILE|DIR|REALM|LENGTH|TTL|EXPIRY|EXPIRATION|EXPIRES?(?:_IN)?|ENABLED?|ALGORITHM|ITERATIONS|TIMEOUT|USER|USERNAME|TYPE)$/i;

/** Whether the name of a variable says that its value is secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name) && !ABOUT_SECRET.test(name);

/** A text that switches something on or off, and is no secret. */
export const isSwitch = (text: string): boolean => /^(?:\d|true|false|yes|no|on|off)$/i.test(text);

/** Whether the text of a variable is probably a secret. */
export const isSecretText = (name: string, text: string): boolean =>
  text !== '' && isSecretName(name) && !isSwitch(text);
