export * from './applications/index.ts';
export { DEFAULT_UPDATES, type TemplateUpdates } from './hub/catalog.ts';
export * from './openapi/document.ts';
export * from './openapi/services.ts';
export * from './shared/client.ts';
export * from './shared/cursor.ts';
export { type CommonBundle, contentOf, type DoctorReport } from './shared/diagnosis.ts';
export * from './shared/endpoint.ts';
export * from './shared/field-codes.ts';
export * from './shared/field-errors.ts';
export { nearestName } from './shared/nearest-name.ts';
export { tier, tiers } from './shared/organization.ts';
export * from './shared/problems.ts';
export { hasPages, readBound } from './shared/reads.ts';
export { MAX_SESSIONS } from './shared/sign-in/own-sessions.ts';
export { type SignInError, signInErrors } from './shared/sign-in/sign-in-errors.ts';
export * from './shared/timestamp.ts';
export * from './shared/tool.ts';
export {
  type DeliveryQuery,
  type IssuedWebhook,
  MAX_WEBHOOKS,
  TEST_EVENT,
  type Webhook,
  type WebhookDelivery,
  webhookDeliveryStates,
} from './shared/webhooks.ts';
export * from './shared/wire.ts';
export {
  type Advisory,
  adviceDefaults,
  advisory,
  changeMessage,
  MAX_REVISION,
  newAdvisory,
  statusProblems,
} from './template/advice.ts';
export * from './template/category.ts';
export { type ChangelogEntry, changelogEntry } from './template/changelog.ts';
export * from './template/conflicts.ts';
export * from './template/container-options.ts';
export type * from './template/controls.ts';
export * from './template/device-variables.ts';
export * from './template/fields.ts';
export { DOCKER_HUB, registryHost, repositoryOf, selectsImage, withoutOldDigest } from './template/image-reference.ts';
export { byteProblem, newValueProblems, storedValueProblems } from './template/new-values.ts';
export { placeConflicts, repeatedPaths } from './template/places.ts';
export { newSignatures } from './template/signatures.ts';
export * from './template/tools.ts';
