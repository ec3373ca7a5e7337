const MARKER = '[secret]';

/** Whether the description of a variable declares it as secret, as the contract states. */
export const isSecretVariableText = (description: string): boolean => description.trimEnd().endsWith(MARKER);

export const withoutSecretMarker = (description: string): string =>
  isSecretVariableText(description) ? description.trimEnd().slice(0, -MARKER.length).trimEnd() : description;
