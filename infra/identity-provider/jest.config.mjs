import preset from '../../infra/jest/preset.mjs';

// oidc-provider prints warnings about Node 20 and about tokens in memory; both are intended.
export default { ...preset, silent: true };
