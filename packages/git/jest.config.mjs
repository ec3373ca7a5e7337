export { default } from '../../infra/jest/preset.mjs';
