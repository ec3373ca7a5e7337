const MARKER = '[secret]';
const INTERNAL = '[internal]';

/** Whether the description of a variable declares it as secret, as the contract states. */
export const isSecretVariableText = (description: string): boolean => description.trimEnd().endsWith(MARKER);

/** Whether the fleet never shows a value that it generates for the variable. */
export const isInternalVariableText = (description: string): boolean =>
  description.trimEnd().endsWith(`${INTERNAL} ${MARKER}`);

export function withoutMarkers(description: string): string {
  if (!isSecretVariableText(description)) return description;
  const text = description.trimEnd().slice(0, -MARKER.length).trimEnd();
  return isInternalVariableText(description) ? text.slice(0, -INTERNAL.length).trimEnd() : text;
}
