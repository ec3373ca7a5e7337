export type { Application, ApplicationInput, ApplicationPart } from './application.ts';
export { type ComposeFile, type Converted, convertCompose, MAX_FILE } from './compose/compose.ts';
export { type Entry, type Fate, type HarmlessReason, harmless } from './report.ts';
