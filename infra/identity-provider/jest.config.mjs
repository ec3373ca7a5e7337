import preset from '../../infra/jest/preset.mjs';

// oidc-provider warns on the console about Node 20 and about keeping tokens in memory; both are meant.
export default { ...preset, silent: true };
