export {
  type Application,
  type ApplicationContent,
  type ApplicationSpec,
  application,
  applicationChange,
  applicationContent,
  applicationInFile,
  applicationSpec,
  applicationSpecMembers,
  newApplication,
  newApplicationSpec,
  ownedApplication,
  restoredApplication,
} from './application.ts';
export {
  applicationProblems,
  type ComparedApplication,
  MAX_APPLICATION_BYTES,
  textsOfPart,
} from './checks.ts';
export {
  type ApplicationInput,
  type GeneratedDeclaration,
  generatedFormats,
  inputProblem,
  inputText,
  inputTypes,
  MAX_GENERATED,
  MAX_INPUTS,
  SECRET_INPUT,
} from './inputs.ts';
export { lintApplication } from './lint.ts';
export { jobRuns, MAX_PARTS, needStates, newPart, type Part, partDefaults, partMembers, partName } from './parts.ts';
export { type ApplicationPiece, applicationPieces, type Placeholder } from './placeholders.ts';
