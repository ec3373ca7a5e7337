// The worst requests that a caller with few rights can send to each route, and ordinary requests to
// compare them with.
import { randomBytes } from 'node:crypto';

const JSON_TYPE = { 'content-type': 'application/json' };
const UNKNOWN_ID = '019a0000-0000-7000-8000-000000000000';
const MEBIBYTE = 2 ** 20;

/**
 * A string of the given length that looks like the start of a token, which log redaction has to
 * recognize.
 */
const tokenLike = (length) => 'eyJ'.repeat(Math.ceil(length / 3)).slice(0, length);

/**
 * Inputs that every route receives: long paths and query strings, and credentials that are
 * expensive to reject.
 */
const anywhere = (path) => [
  { path: `${path}?${tokenLike(14_000)}` },
  { path: `${path}?${'a=1&'.repeat(3500)}` },
  { path, headers: { authorization: `Bearer ${tokenLike(14_000)}` } },
  { path, headers: { authorization: `Bearer svcm_${'A'.repeat(43)}` } },
  {
    path,
    headers: {
      authorization: `Bearer eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"iss":"x"}').toString('base64url')}.${'A'.repeat(342)}`,
    },
  },
  { path, headers: { cookie: 'a=b; '.repeat(2800) } },
  { path, headers: { 'if-none-match': '"x", '.repeat(2800) } },
];

/** Bodies of the maximum size that are expensive to parse or to check. */
const largeBodies = (limit) => {
  const size = limit - 100;
  return [
    `{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
    `{${Array.from({ length: Math.floor(size / 14) }, (_, index) => `"k${String(index).padStart(6, '0')}":0`).join(',')}}`,
    `{"name":"${' '.repeat(size)}"}`,
    `{"name":"${'\\u0000'.repeat(size / 6)}"}`,
    `[${'{},'.repeat(size / 3)}0]`,
    `{"env":{${Array.from({ length: Math.floor(size / 12) }, (_, index) => `"${index}-":""`).join(',')}}}`,
  ];
};

const reading = (path, worst = []) => ({
  ordinary: [{ method: 'GET', path }],
  worst: [...anywhere(path), ...worst.map((query) => ({ path: query.startsWith('?') ? path + query : query }))].map(
    (request) => ({ method: 'GET', ...request }),
  ),
});

/** A list: the most expensive filters, and pages far beyond the end. */
const listing = (path, worst = []) =>
  reading(path, [
    `?search=${'e'.repeat(200)}`,
    `?search=${'%25_'.repeat(60)}`,
    '?search=e&limit=100',
    '?limit=100',
    '?page=90071992547409&limit=100',
    '?page=1000&limit=1',
    ...worst,
  ]);

const sending = (method, path, body) => ({ method, path, headers: JSON_TYPE, body: JSON.stringify(body) });

const writing = (method, path, ordinary, worst = [], limit = 100 * 1024) => ({
  ordinary: [sending(method, path, ordinary)],
  worst: [
    ...anywhere(path),
    ...largeBodies(limit).map((body) => ({ path, body })),
    ...worst.map((body) => ({ path, body: typeof body === 'string' ? body : JSON.stringify(body) })),
  ].map((request) => ({ method, ...request, headers: { ...JSON_TYPE, ...request.headers } })),
});

/** A change without a body. */
const acting = (method, path) => ({
  ordinary: [{ method, path }],
  worst: [...anywhere(path), { path, headers: JSON_TYPE, body: largeBodies(100 * 1024)[1] }].map((request) => ({
    method,
    ...request,
  })),
});

const repeated = (count, of) => Object.fromEntries(Array.from({ length: count }, (_, index) => of(index)));

/** Variables that are expensive to reject, each of which is sent alone. */
const badVariables = {
  'many names': repeated(20_000, (index) => [`${index}-`, '']),
  'many objects': repeated(256, (index) => [`NAME_${index}`, { secrt: 'a', kye: 'b', c: 1, d: 2, e: 3 }]),
  'objects with many members': repeated(256, (index) => [`NAME_${index}`, repeated(60, (at) => [`secre${at}`, 1])]),
  'names and values of others': repeated(250, (index) => [`OTHER_${index}`, 'x'.repeat(4000)]),
  'control characters': repeated(30, (index) => [`NAME_${index}`, `${'x'.repeat(32_000)}\u0001`]),
};

const manyNames = `?name=${Array.from({ length: 20 }, (_, index) => `absent-${index}`).join(',')}&sort=name`;
/** The most words of `q`, each of which all templates have. */
const manyWords =
  '?limit=100&q=template+templat+templa+templ+temp+tem+te+emplate+mplate+plate+late+ate+empl+mpl+plat+pla';
const labels = `?label=${Array.from({ length: 60 }, (_, index) => `k${index}%3Dv`).join(',')}`;

/** A message to the MCP endpoint, from a client of revision 2026-07-28. */
const message = (method, params = {}, named = params.name) => ({
  method: 'POST',
  path: '/mcp',
  headers: {
    ...JSON_TYPE,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(named !== undefined && { 'mcp-name': named }),
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      },
    },
  }),
});

/** Compares messages with a list of the tools. */
const messages = (...worst) => ({ ordinary: [message('tools/list')], worst });

/** Pages of templates at the limits of documentation, compared with pages of ordinary ones. */
const largePages = (path) => ({
  ordinary: [{ method: 'GET', path: `${path}?category=many&limit=100` }],
  worst: [100, 99, 98, 97].map((limit) => ({ method: 'GET', path: `${path}?category=large&limit=${limit}` })),
});

const hubRoutes = () => {
  const auth = '/api/v1/auth';
  const catalog = '/api/v1/catalog';
  const account = '/api/v1/account';
  const admin = '/api/v1/admin';
  const publish = '/api/v1/publish';
  const byId = { id: UNKNOWN_ID };
  const template = { name: 'x', category_id: UNKNOWN_ID };
  const application = { ...template, parts: [{ name: 'x', image_name: 'x' }] };
  const manyTags = Array.from({ length: 60 }, (_, index) => `t${index}`).join(',');
  return {
    listTemplates: listing(`${catalog}/templates`, [
      `?tags=${manyTags}&search=te&limit=100`,
      manyWords,
      '?category=many&limit=100',
    ]),
    listTemplateUpdates: {
      ordinary: [{ method: 'GET', path: `${catalog}/templates/updates?since=2999-01-01T00:00:00Z` }],
      worst: [
        { method: 'GET', path: `${catalog}/templates/updates?since=1970-01-01T00:00:00Z` },
        { method: 'GET', path: `${catalog}/templates/updates?since=1970-01-01T00:00:00Z`, unread: true },
        { method: 'GET', path: `${catalog}/templates/updates?since=${'1'.repeat(14_000)}` },
        { method: 'GET', path: `${catalog}/templates/updates?cursor=${tokenLike(14_000)}` },
      ],
    },
    'listTemplates, large pages': largePages(`${catalog}/templates`),
    'MCP resources/list': messages(message('resources/list')),
    'MCP search_templates': messages(
      message('tools/call', { name: 'search_templates', arguments: { category: 'large', limit: 50 } }),
    ),
    getTemplate: reading(`${catalog}/templates/template-1`, [`${catalog}/templates/${'a-'.repeat(7000)}`]),
    getTemplateIcon: reading(`${catalog}/templates/template-1/icon`),
    getChangelog: reading(`${catalog}/templates/template-1/changelog`, ['?limit=100', '?page=90071992547409']),
    getChangelogFeed: reading(`${catalog}/templates/template-1/changelog/feed`),
    listApplications: listing(`${catalog}/applications`, [`?tags=${manyTags}&search=te&limit=100`, manyWords]),
    listApplicationUpdates: {
      ordinary: [{ method: 'GET', path: `${catalog}/applications/updates?since=2999-01-01T00:00:00Z` }],
      worst: [
        { method: 'GET', path: `${catalog}/applications/updates?since=1970-01-01T00:00:00Z` },
        { method: 'GET', path: `${catalog}/applications/updates?cursor=${tokenLike(14_000)}` },
      ],
    },
    getApplicationChangelog: reading(`${catalog}/applications/application-1/changelog`, [
      '?limit=100',
      '?page=90071992547409',
    ]),
    getApplicationChangelogFeed: reading(`${catalog}/applications/application-1/changelog/feed`),
    getApplication: reading(`${catalog}/applications/application-1`, [`${catalog}/applications/${'a-'.repeat(7000)}`]),
    countTemplates: reading(`${catalog}/counts`, [`${catalog}/counts?tags=${manyTags}&search=te`]),
    listCategories: reading(`${catalog}/categories`),
    listPublishers: reading(`${catalog}/publishers`),
    getOwnOrganization: reading(`${catalog}/organization`),
    getAuthConfig: reading(`${auth}/config`),
    startOidcLogin: reading(`${auth}/oidc/login?challenge=${'c'.repeat(43)}`, [
      `${auth}/oidc/login?return_to=/${'a'.repeat(14_000)}`,
    ]),
    endOidcLogin: reading(`${auth}/oidc/callback?code=x&state=y`),
    finishOidcLogin: writing('POST', `${auth}/oidc/session`, { code: 'x'.repeat(43), verifier: 'v'.repeat(43) }),
    getBrowserSession: reading(`${auth}/session`),
    endBrowserSession: acting('DELETE', `${auth}/session`),
    listOwnSessions: reading(`${auth}/sessions`),
    endOwnSessions: acting('DELETE', `${auth}/sessions`),
    endOwnSession: acting('DELETE', `${auth}/sessions/${UNKNOWN_ID}`),
    connectProgram: writing('POST', `${auth}/connect`, { challenge: 'c'.repeat(43) }),
    exchangeSignInCode: writing('POST', `${auth}/exchange`, { code: 'x', verifier: 'v'.repeat(43) }),
    listMembers: listing(`${account}/members`),
    joinOrganization: writing('POST', `${account}/members`, { code: 'x'.repeat(43) }),
    updateMember: writing('PUT', `${account}/members/${UNKNOWN_ID}`, { org_role: 'member' }),
    removeMember: acting('DELETE', `${account}/members/${UNKNOWN_ID}`),
    listInvitations: listing(`${account}/invitations`),
    inviteMember: writing('POST', `${account}/invitations`, {}),
    withdrawInvitation: acting('DELETE', `${account}/invitations/${UNKNOWN_ID}`),
    listAccessRequests: listing(`${account}/access-requests`),
    requestAccess: writing('POST', `${account}/access-requests`, { category_slug: 'x', reason: 'x'.repeat(2000) }),
    listApiKeys: reading(`${account}/api-keys`),
    createApiKey: writing('POST', `${account}/api-keys`, { name: 'x' }),
    reissueApiKey: writing('PUT', `${account}/api-keys`, byId),
    renameApiKey: writing('PUT', `${account}/api-keys/${UNKNOWN_ID}`, { name: 'x' }),
    revokeApiKey: writing('DELETE', `${account}/api-keys`, byId),
    getAccountOrganization: reading(`${account}/organizations`),
    createOrganization: writing('POST', `${account}/organizations`, { name: 'x', slug: 'x' }),
    listAccountAuditEntries: reading(`${account}/audit`, ['?limit=1000']),
    getProfile: reading(`${account}/profile`),
    updateProfile: writing('PUT', `${account}/profile`, { name: 'x' }),
    listAllTemplates: listing(`${admin}/templates`),
    readTemplateFile: writing(
      'POST',
      `${admin}/templates/file`,
      { yaml: 'name: x\ncategory: x\n' },
      [{ yaml: `env_schema:\n${'- { name: A }\n'.repeat(10_000)}` }],
      1024 * 1024,
    ),
    getManagedTemplate: reading(`${admin}/templates/${UNKNOWN_ID}`),
    createTemplate: writing('POST', `${admin}/templates`, template, [], MEBIBYTE),
    updateTemplate: writing('PUT', `${admin}/templates`, byId, [], MEBIBYTE),
    deleteTemplate: writing('DELETE', `${admin}/templates`, byId),
    listAllApplications: listing(`${admin}/applications`),
    readApplicationFile: writing(
      'POST',
      `${admin}/applications/file`,
      { yaml: 'name: x\ncategory: x\n' },
      [],
      2 * MEBIBYTE,
    ),
    getManagedApplication: reading(`${admin}/applications/${UNKNOWN_ID}`),
    createApplication: writing('POST', `${admin}/applications`, application, [], 2 * MEBIBYTE),
    updateApplication: writing('PUT', `${admin}/applications`, byId, [], 2 * MEBIBYTE),
    deleteApplication: writing('DELETE', `${admin}/applications`, byId),
    listRevisions: reading(`${admin}/templates/${UNKNOWN_ID}/revisions`, ['?limit=100', '?page=90071992547409']),
    getRevision: reading(`${admin}/templates/${UNKNOWN_ID}/revisions/1`),
    compareRevisions: reading(`${admin}/templates/${UNKNOWN_ID}/revisions/2/changes`, ['?since=1']),
    listDeletedTemplates: reading(`${admin}/deleted-templates`, ['?limit=100', '?page=90071992547409']),
    restoreTemplate: writing('POST', `${admin}/templates/${UNKNOWN_ID}/restore`, { revision: 1 }),
    createAdvisory: writing('POST', `${admin}/templates/${UNKNOWN_ID}/advisories`, {}),
    updateAdvisory: writing('PUT', `${admin}/templates/${UNKNOWN_ID}/advisories/${UNKNOWN_ID}`, {}),
    withdrawAdvisory: acting('DELETE', `${admin}/templates/${UNKNOWN_ID}/advisories/${UNKNOWN_ID}`),
    listApplicationRevisions: reading(`${admin}/applications/${UNKNOWN_ID}/revisions`, [
      '?limit=100',
      '?page=90071992547409',
    ]),
    getApplicationRevision: reading(`${admin}/applications/${UNKNOWN_ID}/revisions/1`),
    compareApplicationRevisions: reading(`${admin}/applications/${UNKNOWN_ID}/revisions/2/changes`, ['?since=1']),
    listDeletedApplications: reading(`${admin}/deleted-applications`, ['?limit=100', '?page=90071992547409']),
    restoreApplication: writing('POST', `${admin}/applications/${UNKNOWN_ID}/restore`, { revision: 1 }),
    createApplicationAdvisory: writing('POST', `${admin}/applications/${UNKNOWN_ID}/advisories`, {}),
    updateApplicationAdvisory: writing('PUT', `${admin}/applications/${UNKNOWN_ID}/advisories/${UNKNOWN_ID}`, {}),
    withdrawApplicationAdvisory: acting('DELETE', `${admin}/applications/${UNKNOWN_ID}/advisories/${UNKNOWN_ID}`),
    listAllCategories: listing(`${admin}/categories`),
    getManagedCategory: reading(`${admin}/categories/${UNKNOWN_ID}`),
    createCategory: writing('POST', `${admin}/categories`, { name: 'x' }),
    updateCategory: writing('PUT', `${admin}/categories`, byId),
    deleteCategory: writing('DELETE', `${admin}/categories`, byId),
    listAllPublishers: reading(`${admin}/publishers`),
    setPublisher: writing('PUT', `${admin}/publishers/acme`, { name: 'x' }),
    deletePublisher: writing('DELETE', `${admin}/publishers/acme`),
    listGrants: listing(`${admin}/catalog-access`),
    grantAccess: writing('POST', `${admin}/catalog-access`, { org_id: UNKNOWN_ID, category_id: UNKNOWN_ID }),
    changeAccess: writing('PUT', `${admin}/catalog-access`, { grants: [], revokes: [] }),
    planVisibility: writing('POST', `${admin}/visibility/plan`, {}),
    listAllAccessRequests: listing(`${admin}/access-requests`),
    decideAccessRequest: writing('PUT', `${admin}/access-requests/${UNKNOWN_ID}`, { status: 'declined' }),
    revokeAccess: writing('DELETE', `${admin}/catalog-access`, byId),
    listUsers: listing(`${admin}/users`),
    updateUser: writing('PUT', `${admin}/users`, { ...byId, role: 'admin' }),
    listOrganizations: listing(`${admin}/organizations`),
    getManagedOrganization: reading(`${admin}/organizations/${UNKNOWN_ID}`),
    createManagedOrganization: writing('POST', `${admin}/organizations`, { name: 'x', slug: 'x' }),
    updateOrganization: writing('PUT', `${admin}/organizations`, byId),
    listAllApiKeys: listing(`${admin}/api-keys`),
    createManagedApiKey: writing('POST', `${admin}/api-keys`, { org_id: UNKNOWN_ID, name: 'x' }),
    renameAnyApiKey: writing('PUT', `${admin}/api-keys`, { ...byId, name: 'x' }),
    revokeAnyApiKey: writing('DELETE', `${admin}/api-keys`, byId),
    listServiceTokens: listing(`${admin}/service-tokens`),
    createServiceToken: writing('POST', `${admin}/service-tokens`, {
      name: 'x',
      scopes: ['import'],
      categories: ['x'],
      expires_in_days: 1,
    }),
    revokeServiceToken: writing('DELETE', `${admin}/service-tokens`, byId),
    ...webhookRequests(admin),
    importCatalog: writing('POST', `${publish}/import`, { files: [{ path: 'categories.yaml', content: '[]' }] }),
    exportCatalog: reading(`${publish}/export`),
    getStats: reading(`${admin}/stats`),
    runDoctor: acting('POST', `${admin}/doctor`),
    createSupportBundle: acting('POST', `${admin}/support-bundle`),
    listAuditEntries: reading(`${admin}/audit`, ['?limit=1000', `?path=${'a'.repeat(1000)}`]),
    exportAuditEntries: reading(`${admin}/audit/export`, ['?cursor=start']),
  };
};

/** The operations of webhooks, which both services have. */
const webhookRequests = (base) => {
  const webhooks = `${base}/webhooks`;
  return {
    listWebhooks: reading(webhooks),
    createWebhook: writing('POST', webhooks, { name: 'x' }),
    updateWebhook: writing('PUT', `${webhooks}/x`, {}),
    deleteWebhook: acting('DELETE', `${webhooks}/x`),
    rotateWebhook: acting('POST', `${webhooks}/x/rotate`),
    testWebhook: acting('POST', `${webhooks}/x/test`),
    listWebhookDeliveries: reading(`${webhooks}/x/deliveries`),
    redeliverWebhook: acting('POST', `${webhooks}/x/deliveries/x/redeliver`),
  };
};

const fleetRoutes = ({ deployment, host, workload }) => {
  const api = '/api/v1';
  const resource = (name) => `${api}/${name}`;
  const one = (name, id = UNKNOWN_ID) => `${api}/${name}/${id}`;
  const credentials = () => ({
    email: `${randomBytes(8).toString('hex')}@example.test`,
    password: randomBytes(16).toString('hex'),
  });
  const environment = (bytes) =>
    Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`NAME_${index}`, 'x'.repeat(bytes / 200)]));
  const plan = { workload_id: workload, replicas: 1 };
  /** An application with as many parts, each of which has the address of the one before. */
  const application = (count) => ({
    name: 'planned',
    spec: {
      generated: [{ name: 'password' }],
      parts: Array.from({ length: count }, (_, index) => ({
        name: `part-${index}`,
        image_name: 'team/app',
        ports: [{ containerPort: 80 }],
        volume_mounts: [{ name: 'data', mountPath: '/data' }],
        env: [
          { name: 'PASSWORD', value: `\${generated.password}` },
          ...(index === 0 ? [] : [{ name: 'ADDRESS', value: `\${parts.part-${index - 1}.address.80}` }]),
        ],
      })),
    },
  });
  const command = 'x'.repeat(32_000);
  return {
    getAuthConfig: reading(`${api}/auth/config`),
    login: writing('POST', `${api}/auth/login`, { email: 'nobody@example.test', password: 'wrong-password-1' }, [
      ...Array.from({ length: 200 }, credentials),
      { email: 'somebody@example.test', password: 'wrong-password-1' },
      { email: 'somebody@example.test', password: 'x'.repeat(1000) },
    ]),
    'login, unknown users': {
      ordinary: [sending('POST', `${api}/auth/login`, { email: 'nobody@example.test', password: 'wrong-password-1' })],
      worst: Array.from({ length: 2000 }, () => sending('POST', `${api}/auth/login`, credentials())),
    },
    startOidcLogin: reading(`${api}/auth/oidc/login`, [`?return_to=/${'a'.repeat(14_000)}`]),
    endOidcLogin: reading(`${api}/auth/oidc/callback?code=x&state=y`, [
      `${api}/auth/oidc/callback?code=${'x'.repeat(7000)}&state=${'y'.repeat(7000)}`,
    ]),
    finishOidcLogin: writing('POST', `${api}/auth/oidc/session`, { code: 'x'.repeat(43), verifier: 'v'.repeat(43) }),
    exchangeOidcCode: writing('POST', `${api}/auth/oidc/token`, { code: 'x' }),
    exchangeSignInCode: writing('POST', `${api}/auth/exchange`, { code: 'x'.repeat(43) }),
    refresh: writing('POST', `${api}/auth/refresh`, { refresh_token: 'x'.repeat(43) }),
    logout: acting('POST', `${api}/auth/logout`),
    getBrowserSession: reading(`${api}/auth/session`),
    openBrowserSession: writing('POST', `${api}/auth/session`, {
      email: 'nobody@example.test',
      password: 'wrong-password-1',
    }),
    endBrowserSession: acting('DELETE', `${api}/auth/session`),
    listOwnSessions: reading(`${api}/auth/sessions`),
    endOwnSessions: acting('DELETE', `${api}/auth/sessions`),
    endOwnSession: acting('DELETE', `${api}/auth/sessions/${UNKNOWN_ID}`),
    connectProgram: writing('POST', `${api}/auth/connect`, { challenge: 'c'.repeat(43) }),
    acceptInvitation: writing('POST', `${api}/auth/invitation`, { code: 'x'.repeat(43), password: 'y' }),
    changeOwnPassword: writing('PUT', `${api}/auth/password`, { current_password: 'x', new_password: 'y' }),
    me: reading(`${api}/auth/me`),
    listMirroredTemplates: listing(`${api}/catalog/templates`, [manyWords, '?category=many&limit=100']),
    'listMirroredTemplates, large pages': largePages(`${api}/catalog/templates`),
    'MCP resources/list': messages(message('resources/list')),
    'MCP get_fleet_status and list_deployments': messages(
      message('tools/call', { name: 'get_fleet_status', arguments: {} }),
      message('tools/call', { name: 'list_deployments', arguments: { limit: 100 } }),
    ),
    getMirroredTemplate: reading(`${api}/catalog/templates/template-1`),
    listMirroredApplications: listing(`${api}/catalog/applications`, [manyWords]),
    getMirroredApplication: reading(`${api}/catalog/applications/application-1`),
    listMirroredCategories: reading(`${api}/catalog/categories`),
    listNetworkTypes: reading(`${api}/catalog/network-types`),
    getSyncState: reading(`${api}/catalog/sync`),
    syncCatalog: writing('POST', `${api}/catalog/sync`, {}),
    listUsers: listing(resource('users')),
    createUser: writing('POST', resource('users'), {
      email: 'a@example.test',
      name: 'a',
      role: 'viewer',
      password: 'x',
    }),
    getUser: reading(one('users')),
    updateUser: writing('PUT', one('users'), { name: 'x' }),
    deleteUser: acting('DELETE', one('users')),
    inviteUser: acting('POST', `${one('users')}/invitation`),
    withdrawInvitation: acting('DELETE', `${one('users')}/invitation`),
    listTokens: listing(resource('tokens')),
    createToken: writing('POST', resource('tokens'), { name: 'x', role: 'viewer' }),
    listDependents: listing(`${one('tokens')}/dependents`),
    reissueToken: acting('POST', `${one('tokens')}/reissue`),
    revokeToken: acting('DELETE', one('tokens')),
    getOidcSettings: reading(resource('settings/oidc')),
    setOidcSettings: writing('PUT', resource('settings/oidc'), {}),
    resetOidcSettings: acting('DELETE', resource('settings/oidc')),
    testOidcSettings: writing('POST', resource('settings/oidc/test'), {}),
    getHubSettings: reading(resource('settings/hub')),
    setHubSettings: writing('PUT', resource('settings/hub'), {}),
    resetHubSettings: acting('DELETE', resource('settings/hub')),
    testHubSettings: writing('POST', resource('settings/hub/test'), {}),
    getApprovalSettings: reading(resource('settings/approvals')),
    setApprovalSettings: writing('PUT', resource('settings/approvals'), {}),
    getTrustPolicy: reading(resource('settings/trust')),
    setTrustPolicy: writing('PUT', resource('settings/trust'), {}),
    planTrust: writing('POST', resource('settings/trust/plan'), { mode: 'require' }),
    assignSlug: writing('PUT', resource('settings/trust/slugs/x'), { publisher: 'x' }),
    listTrustedPublishers: reading(resource('settings/publishers')),
    trustPublisher: writing('POST', resource('settings/publishers'), { slug: 'x' }),
    updateTrustedPublisher: writing('PUT', resource('settings/publishers/x'), {}),
    distrustPublisher: acting('DELETE', resource('settings/publishers/x')),
    importKeyring: writing('PUT', resource('settings/publishers/x/keyring'), { keyring: 'a.b.c' }),
    importBundle: acting('POST', resource('catalog/bundle')),
    extendKeyring: writing('POST', resource('settings/publishers/x/extension'), { reason: 'x' }),
    ...webhookRequests(api),
    listSources: listing(resource('sources'), []),
    getSource: reading(resource('sources/x')),
    createSource: writing('POST', resource('sources'), { name: 'x', url: 'https://git.example.com/x.git' }),
    updateSource: writing('PUT', resource('sources/x'), {}),
    deleteSource: acting('DELETE', resource('sources/x')),
    checkSource: acting('POST', resource('sources/x/check')),
    rotateSource: acting('POST', resource('sources/x/rotate')),
    notifySource: writing('POST', resource('sources/x/hook'), {}, [], MEBIBYTE / 2),
    runDoctor: acting('POST', resource('doctor')),
    createSupportBundle: acting('POST', resource('support-bundle')),
    listAuditEntries: reading(resource('audit'), ['?limit=1000', `?path=${'a'.repeat(1000)}`]),
    exportAuditEntries: reading(resource('audit/export'), ['?cursor=start']),
    listEvents: listing(resource('events'), [`${resource('events')}?sort=at&page=9007199254740991`]),
    // A stream does not end, so these requests are refused. bench/watch measures open streams.
    watchChanges: reading(resource('changes?kinds=none'), [`${resource('changes')}?kinds=${'a,'.repeat(1000)}`]),
    listHosts: listing(resource('hosts'), [labels]),
    createHost: writing(
      'POST',
      resource('hosts'),
      { name: 'x', engine: 'docker', endpoint: 'tcp://192.0.2.1:2376' },
      [],
      MEBIBYTE / 2,
    ),
    checkNewHost: writing(
      'POST',
      resource('hosts/check'),
      { engine: 'docker', endpoint: 'tcp://192.0.2.1:2376' },
      [],
      MEBIBYTE / 2,
    ),
    getHost: reading(one('hosts', host)),
    updateHost: writing('PUT', one('hosts', host), {}, [], MEBIBYTE / 2),
    checkHost: acting('POST', `${one('hosts', host)}/check`),
    deleteHost: acting('DELETE', one('hosts', host)),
    listHostEvents: listing(`${one('hosts', host)}/events`),
    ...orphans('Host', one('hosts', host)),
    listClusters: listing(resource('clusters'), [labels]),
    createCluster: writing('POST', resource('clusters'), { name: 'x' }, [], MEBIBYTE / 2),
    checkNewCluster: writing('POST', resource('clusters/check'), {}, [], MEBIBYTE / 2),
    getCluster: reading(one('clusters')),
    updateCluster: writing('PUT', one('clusters'), {}, [], MEBIBYTE / 2),
    checkCluster: acting('POST', `${one('clusters')}/check`),
    deleteCluster: acting('DELETE', one('clusters')),
    listClusterEvents: listing(`${one('clusters')}/events`),
    ...orphans('Cluster', one('clusters')),
    listWorkloads: listing(resource('workloads'), [labels]),
    createWorkload: writing('POST', resource('workloads'), { name: 'x' }, [], MEBIBYTE),
    getWorkload: reading(one('workloads', workload)),
    updateWorkload: writing('PUT', one('workloads', workload), {}, [], MEBIBYTE),
    deleteWorkload: acting('DELETE', one('workloads', workload)),
    listWorkloadRevisions: reading(`${one('workloads', workload)}/revisions`, ['?limit=100', '?page=90071992547409']),
    listDeployments: listing(resource('deployments'), [
      labels,
      manyNames,
      '?template=template-1&phase=pending&sort=-name&limit=100',
    ]),
    createDeployment: writing('POST', resource('deployments'), { name: 'x', workload_id: workload }, [], MEBIBYTE),
    planDeployment: writing(
      'POST',
      resource('deployments/plan'),
      plan,
      [
        { ...plan, replicas: 1000 },
        { ...plan, replicas: 1000, env: { NAME: 'x'.repeat(32_000) } },
        { ...plan, replicas: 16, env: environment(MEBIBYTE - 10_000) },
        { deployment_id: deployment, replicas: 1000 },
        { template: 'template-1', name: 'planned', replicas: 1000 },
        { ...plan, replicas: 1000, env: { NAME: command } },
      ],
      MEBIBYTE,
    ),
    ...Object.fromEntries(
      Object.entries(badVariables).map(([kind, env]) => [
        `planDeployment, ${kind} of variables`,
        {
          ordinary: [sending('POST', resource('deployments/plan'), plan)],
          worst: [sending('POST', resource('deployments/plan'), { ...plan, env })],
        },
      ]),
    ),
    getDeployment: reading(one('deployments', deployment), ['?wait=running&timeout=1']),
    updateDeployment: writing('PUT', one('deployments', deployment), {}, [], MEBIBYTE),
    deleteDeployment: acting('DELETE', one('deployments', deployment)),
    startDeployment: acting('POST', `${one('deployments', deployment)}/start`),
    stopDeployment: acting('POST', `${one('deployments', deployment)}/stop`),
    restartDeployment: acting('POST', `${one('deployments', deployment)}/restart`),
    scaleDeployment: writing('POST', `${one('deployments', deployment)}/scale`, { replicas: 2 }),
    rollbackDeployment: writing('POST', `${one('deployments', deployment)}/rollback`, {}),
    upgradeDeployment: writing('POST', `${one('deployments', deployment)}/upgrade`, { expected: 'none' }, [], MEBIBYTE),
    checkDeploymentImage: acting('POST', `${one('deployments', deployment)}/check-image`),
    abortRollout: acting('POST', `${one('deployments', deployment)}/rollout/abort`),
    resumeRollout: acting('POST', `${one('deployments', deployment)}/rollout/resume`),
    planUpdateRun: writing('POST', resource('update-runs/plan'), { deployment_ids: [deployment] }, [
      { template: 'template-1', wave: 50 },
    ]),
    createUpdateRun: writing('POST', resource('update-runs'), { deployment_ids: [deployment] }),
    listUpdateRuns: reading(resource('update-runs'), ['?limit=100', '?page=90071992547409']),
    getUpdateRun: reading(one('update-runs')),
    cancelUpdateRun: acting('POST', `${one('update-runs')}/cancel`),
    createPlan: writing(
      'POST',
      resource('plans'),
      { files: [{ path: 'a.yaml', text: 'kind: deployment\nname: planned\nspec:\n  image_name: team/app\n' }] },
      [{ files: [{ path: 'a.yaml', text: 'kind: deployment\n---\n'.repeat(2000) }] }],
    ),
    listPlans: reading(resource('plans'), ['?limit=100', '?page=90071992547409']),
    getPlan: reading(one('plans')),
    applyPlan: writing('POST', `${one('plans')}/apply`, { digest: 'of another plan' }),
    approvePlan: writing('POST', `${one('plans')}/approve`, { digest: 'of another plan' }),
    rejectPlan: writing('POST', `${one('plans')}/reject`, { digest: 'of another plan' }),
    exportDocuments: reading(resource('export'), ['?set=default']),
    planApplication: writing(
      'POST',
      resource('applications/plan'),
      application(1),
      [application(32), { ...application(32), volumes: { 'part-0/data': { storage_id: deployment } } }],
      MEBIBYTE,
    ),
    createApplication: writing('POST', resource('applications'), { ...application(1), expected: 'none' }, [], MEBIBYTE),
    listApplications: listing(resource('applications'), [labels]),
    getApplication: reading(one('applications')),
    getApplicationSpec: reading(`${one('applications')}/spec`),
    listApplicationEvents: reading(`${one('applications')}/events`, ['?limit=100', '?page=90071992547409']),
    listApplicationGenerations: reading(`${one('applications')}/generations`, ['?limit=100', '?page=90071992547409']),
    readApplicationLogs: reading(`${one('applications')}/logs`, ['?part=web&follow=true&tail=10000']),
    revealApplicationValue: acting('POST', `${one('applications')}/values/password/reveal`),
    updateApplication: writing('PUT', one('applications'), {}, [], MEBIBYTE),
    startApplication: acting('POST', `${one('applications')}/start`),
    stopApplication: acting('POST', `${one('applications')}/stop`),
    restartApplication: acting('POST', `${one('applications')}/restart`),
    scaleApplication: writing('POST', `${one('applications')}/scale`, { replicas: { web: 2 } }),
    upgradeApplication: writing('POST', `${one('applications')}/upgrade`, { expected: 'none' }, [], MEBIBYTE),
    rollbackApplication: writing('POST', `${one('applications')}/rollback`, {}),
    abortApplicationRollout: acting('POST', `${one('applications')}/rollout/abort`),
    resumeApplicationRollout: acting('POST', `${one('applications')}/rollout/resume`),
    deleteApplication: acting('DELETE', one('applications')),
    revealDeploymentValue: acting('POST', `${one('deployments', deployment)}/values/NAME/reveal`),
    listDeploymentEvents: reading(`${one('deployments', deployment)}/events`, ['?limit=100', '?page=90071992547409']),
    listDeploymentRevisions: reading(`${one('deployments', deployment)}/revisions`, [
      '?limit=100',
      '?page=90071992547409',
    ]),
    readDeploymentLogs: reading(`${one('deployments', deployment)}/logs`, [
      '?follow=true&tail=10000',
      `?instance=${'x'.repeat(253)}`,
    ]),
    getDeploymentUsage: reading(`${one('deployments', deployment)}/usage`),
    getDeploymentManifest: reading(`${one('deployments', deployment)}/manifest`),
    listStorage: listing(resource('storage'), [labels]),
    createStorage: writing('POST', resource('storage'), { name: 'x', size: '1Gi' }),
    getStorage: reading(one('storage')),
    updateStorage: writing('PUT', one('storage'), {}),
    deleteStorage: acting('DELETE', one('storage')),
    listSecrets: listing(resource('secrets'), [labels]),
    createSecret: writing('POST', resource('secrets'), { name: 'x', values: { a: 'b' } }, [], MEBIBYTE),
    getSecret: reading(one('secrets')),
    updateSecret: writing('PUT', one('secrets'), {}, [], MEBIBYTE),
    deleteSecret: acting('DELETE', one('secrets')),
  };
};

const orphans = (kind, path) => ({
  [`list${kind}Orphans`]: listing(`${path}/orphans`),
  [`remove${kind}Orphan`]: acting('POST', `${path}/orphans/${UNKNOWN_ID}/remove`),
  [`adopt${kind}Orphan`]: writing('POST', `${path}/orphans/${UNKNOWN_ID}/adopt`, {}, [], MEBIBYTE),
});

/** Paths outside the contract. */
const otherRoutes = () =>
  Object.fromEntries(
    ['/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', `/${tokenLike(14_000)}`].map((path) => [
      path.slice(0, 20),
      reading(path),
    ]),
  );

/** The routes of a service by operation id or path. */
export const routesOf = (service) => ({
  ...(service.isHub ? hubRoutes() : fleetRoutes(service.ids)),
  ...otherRoutes(),
});

/** The operations of a service without requests in `routes`. */
export const missingIn = (routes, endpoints) =>
  Object.values(endpoints).flatMap(({ operationId }) => (operationId in routes ? [] : [operationId]));

/**
 * The same requests with the credentials of a caller. A request with its own credentials keeps
 * them.
 */
export const as = (credential, requests) =>
  requests.map((request) => ({
    ...request,
    headers: { ...(credential && { authorization: `Bearer ${credential}` }), ...request.headers },
  }));
