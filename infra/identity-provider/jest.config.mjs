import preset from '../../infra/jest/preset.mjs';

// oidc-provider prints warnings about tokens in memory, which are intended.
export default { ...preset, silent: true };
