/**
 * The faults that the check introduces, and the tests that must detect them.
 *
 * `edits`: each `find` must occur exactly once in its file. After a refactoring, update it so that it introduces the
 * same fault. The changed source must compile, so an edit must not leave unused variables.
 * `tests`: Jest path patterns within a package, as narrow as possible. Only tests at depth `short` count.
 */
export const mutations = [
  {
    name: 'visibility clause dropped',
    edits: [
      {
        file: 'apps/hub/src/catalog/visibility.ts',
        find: 'const openToAll = Prisma.sql`(t.is_public AND NOT c.is_private)`;',
        replace: 'const openToAll = Prisma.sql`(t.is_public)`;',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/visibility/matrix' }],
  },
  {
    name: 'changelog from before the visibility',
    edits: [
      {
        file: 'apps/hub/src/catalog/revisions/changelog.ts',
        find: 'periods.filter(({ until }) => until === null).map(',
        replace: 'periods.map(',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/visibility/changelog' }],
  },
  {
    name: 'advisories recorded as content',
    edits: [
      {
        file: 'prisma/hub/migrations/20261128011000_template_revisions/migration.sql',
        find: 'status,status_message,replacement,advisories}',
        replace: 'status,status_message,replacement}',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/admin/templates/writing-paths' }],
  },
  {
    name: 'advisories recorded as content of applications',
    edits: [
      {
        file: 'prisma/hub/migrations/20261128192600_application_revisions/migration.sql',
        find: 'status,status_message,replacement,advisories,signatures}',
        replace: 'status,status_message,replacement,signatures}',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/admin/applications/history' }],
  },
  {
    name: 'deletion without a revision',
    edits: [
      {
        file: 'prisma/hub/migrations/20261128011000_template_revisions/migration.sql',
        find: 'AFTER INSERT OR DELETE ON "templates"',
        replace: 'AFTER INSERT ON "templates"',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/admin/templates/writing-paths' }],
  },
  {
    name: 'restored template pruned with its history',
    edits: [
      {
        file: 'prisma/hub/migrations/20261128011000_template_revisions/migration.sql',
        find: '        AND NOT EXISTS (SELECT FROM templates t WHERE t.id = deletion.template_id)\n        AND NOT EXISTS (SELECT FROM template_revisions later\n                        WHERE later.template_id = deletion.template_id AND later.revision > deletion.revision)\n',
        replace: '',
      },
      {
        file: 'prisma/hub/migrations/20261128011000_template_revisions/migration.sql',
        find: '        AND NOT (chosen.forgotten AND EXISTS (SELECT FROM templates t WHERE t.id = chosen.template_id))\n',
        replace: '',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/admin/templates/revisions' }],
  },
  {
    // A write advances the clock in its own transaction, which locks the row of the clock until it commits. With this
    // mutation, another transaction advances the clock, and the lock is released before the write reads its stamp.
    name: 'catalog stamp taken without its lock',
    edits: [
      {
        file: 'apps/hub/src/database/catalog-write.ts',
        find: '{ catalogWriter }: Database,',
        replace: '{ catalogWriter, client }: Database,',
      },
      {
        file: 'apps/hub/src/database/catalog-write.ts',
        find: 'await transaction.$executeRaw`\n          UPDATE catalog_clock',
        replace: 'await client.$executeRaw`\n          UPDATE catalog_clock',
      },
      {
        file: 'prisma/hub/migrations/00000000000000_initial/migration.sql',
        find: 'SELECT at INTO stamp FROM catalog_clock WHERE xmin = pg_current_xact_id()::xid;',
        replace: 'SELECT at INTO stamp FROM catalog_clock;',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/sync/writer-queue' }],
  },
  {
    name: 'role too permissive',
    edits: [
      {
        file: 'apps/fleet/src/identity/policy.ts',
        find: "'resources-write': roles(['admin', 'operator']),",
        replace: "'resources-write': roles(everyRole),",
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/resources/roles' }],
  },
  {
    name: 'unaudited route',
    edits: [
      {
        file: 'apps/fleet/src/api/users.ts',
        find: 'return runAudited(context, fleetEndpoints.updateUser, async (transaction) => {',
        replace: 'return database.client.$transaction(async (transaction) => {',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/audit/people' }],
  },
  {
    name: 'lease without fence',
    edits: [
      {
        file: 'apps/fleet/src/reconciler/write.ts',
        find: ` AND lease_owner = \${claim.owner}::uuid AND lease_until > now()\n        AND generation = \${claim.generation}\n      RETURNING id, name),`,
        replace: ` AND generation = \${claim.generation}\n      RETURNING id, name),`,
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/reconciler/lease' }],
  },
  {
    name: 'leaked secret',
    edits: [
      {
        file: 'apps/fleet/src/engines/redact.ts',
        find: "const engineMessage = redact(response?.engineMessage ?? '');",
        replace: "const engineMessage = response?.engineMessage ?? '';",
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/engines/echoed-values' }],
  },
  {
    name: 'skipped removal',
    edits: [
      {
        file: 'apps/fleet/src/catalog/mirror.ts',
        find: 'dropTemplates(transaction, page.removed)',
        replace: 'dropTemplates(transaction, [])',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/catalog/sync\\.test' }],
  },
  {
    name: 'wrong status code',
    edits: [
      { file: 'packages/contract/src/fleet/resources/secrets.ts', find: 'status: 201,', replace: 'status: 200,' },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/resources/secrets' }],
  },
  {
    name: 'lost counter',
    edits: [
      {
        file: 'apps/hub/src/catalog/usage.ts',
        find: 'DO UPDATE SET count = d.count + excluded.count',
        replace: 'DO UPDATE SET count = excluded.count',
      },
    ],
    tests: [{ package: 'apps/hub', pattern: 'test/catalog/usage' }],
  },
  {
    name: 'GPU assigned twice',
    edits: [
      {
        file: 'apps/fleet/src/placement/feasibility.ts',
        find: 'const used = new Set(host.allocated.gpus);',
        replace: 'const used = new Set<string>();',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/placement/gpus' }],
  },
  {
    name: 'missing timeout',
    edits: [
      {
        file: 'packages/http/src/outbound/outbound.ts',
        find: '      signal: AbortSignal.timeout(timeoutMs),\n',
        replace: '',
      },
    ],
    tests: [{ package: 'packages/http', pattern: 'test/outbound/outbound\\.test' }],
  },
  {
    name: 'unvalidated reply',
    edits: [
      {
        file: 'packages/contract/src/shared/client.ts',
        find: 'const reply = endpoint.reply.safeParse(parseJson(response.body));',
        replace: 'const reply = { success: true, data: parseJson(response.body) };',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/settings/trying-hub' }],
  },
  {
    name: 'blocked template deployed',
    edits: [
      {
        file: 'apps/fleet/src/resources/advice.ts',
        find: "if (status === 'blocked') {",
        replace: 'if (false) {',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/templates/decision' }],
  },
  {
    name: 'acknowledged for another copy',
    edits: [
      {
        file: 'apps/fleet/src/api/workloads.ts',
        find: 'const earlier = isOther ? [] : before.acknowledged;',
        replace: 'const earlier = before.acknowledged;',
      },
      {
        file: 'apps/fleet/src/api/workloads.ts',
        find: 'if (isOther) await refuseFlawed(transaction, base, body.acknowledge);',
        replace: '',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/templates/decision' }],
  },
  {
    name: 'advisory about another revision',
    edits: [
      {
        file: 'apps/fleet/src/resources/advice.ts',
        find: "(x->>'last_revision')::int, v.template_revision))",
        replace: 'NULL, v.template_revision))',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/templates/advice\\.test' }],
  },
  {
    name: 'automatic update with a new port',
    edits: [
      {
        file: 'apps/fleet/src/deployments/updates/limits.ts',
        find: 'adds(portsOf(before), portsOf(after))',
        replace: 'adds(portsOf(after), portsOf(before))',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/updates/automatic' }],
  },
  {
    name: 'automatic update after a return',
    edits: [
      {
        file: 'apps/fleet/src/reconciler/updates/begin.ts',
        find: 'if (!last?.is_restored) return',
        replace: 'if (last?.is_restored !== undefined) return',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/updates/automatic' }],
  },
  {
    name: 'automatic updates beyond their concurrency',
    edits: [
      {
        file: 'apps/fleet/src/reconciler/updates/begin.ts',
        find: 'row.running < concurrency',
        replace: 'row.running <= concurrency',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/updates/automatic' }],
  },
  {
    name: 'automatic upgrade that passes a secret to another part',
    edits: [
      {
        file: 'apps/fleet/src/applications/updates/limits.ts',
        find: '.some((reference) => !known.includes(identityOf(reference)));',
        replace: '.some((reference) => known.length > 99 && !known.includes(identityOf(reference)));',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/applications/automatic' }],
  },
  {
    name: 'job of each version that does not run again',
    edits: [
      {
        file: 'apps/fleet/src/applications/jobs.ts',
        find: "change.isNewVersion && part.run === 'each_version'",
        replace: "change.isNewVersion && part.run === 'once'",
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/applications/jobs' }],
  },
  {
    name: 'window that begins at the second of two times',
    edits: [
      {
        file: 'apps/fleet/src/deployments/updates/window.ts',
        find: '.toSorted((one, other) => one - other);\n  const found',
        replace: '.toSorted((one, other) => other - one);\n  const found',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/updates/window' }],
  },
  {
    name: 'update run that begins updates that its plan refuses',
    edits: [
      {
        file: 'apps/fleet/src/deployments/update-runs/plan.ts',
        find: 'if (ok) return',
        replace: 'if (ok || refusals.length > 0) return',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/update-runs' }],
  },
  {
    name: 'changelog of a plan with changes that the mirror does not have',
    edits: [
      {
        file: 'apps/fleet/src/deployments/templates/changelog.ts',
        find: 'revision <= to)',
        replace: 'revision <= to || revision > to)',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/deployments/templates/changelog' }],
  },
  {
    name: 'update run that continues after failures',
    edits: [
      {
        file: 'apps/fleet/src/reconciler/updates/runs.ts',
        find: 'run.failed >= run.stop_after',
        replace: 'run.failed > run.stop_after',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/update-runs' }],
  },
  {
    name: 'plan applied although its decision differs',
    edits: [
      {
        file: 'apps/fleet/src/plans/apply.ts',
        find: 'decision.digest !== plan.digest || isRefusedNow',
        replace: 'isRefusedNow',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/plans/apply' }],
  },
  {
    name: 'plan deletes data that the document before did not release',
    edits: [
      {
        file: 'apps/fleet/src/plans/apply.ts',
        find: "step.action === 'delete' && !step.deletesData",
        replace: "step.action === 'delete' && step.deletesData",
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/plans/apply' }],
  },
  {
    name: 'member kept that a document no longer has',
    edits: [
      {
        file: 'apps/fleet/src/plans/compare.ts',
        find: 'document[member] === undefined && previous?.[member] !== undefined ? DEFAULTS[member] : document[member]',
        replace: 'document[member] === undefined && previous?.[member] === null ? DEFAULTS[member] : document[member]',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/plans/apply' }],
  },
  {
    name: 'plan changes an object of another set',
    edits: [
      {
        file: 'apps/fleet/src/plans/steps.ts',
        find: '!isOwn && !options.adopt',
        replace: '!isOwn && options.adopt',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/plans/plans' }],
  },
  {
    name: 'target left out of the decision of a plan',
    edits: [
      {
        file: 'apps/fleet/src/plans/decide.ts',
        find: '[chosen ?? draft.target, chosen?.gpus ?? []]',
        replace: '[draft.target, chosen?.gpus ?? []]',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/plans/apply' }],
  },
  {
    name: 'untrusted template deployed',
    edits: [
      {
        file: 'apps/fleet/src/deployments/templates/trust.ts',
        find: "verdict.state === 'untrusted'",
        replace: "verdict.state === 'unsigned'",
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/trust/decision' }],
  },
  {
    name: 'serials that are not remembered',
    edits: [
      {
        file: 'apps/fleet/src/trust/memory.ts',
        find: 'WHERE excluded.serial > trust_memory.serial',
        replace: 'WHERE excluded.serial < trust_memory.serial',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/trust/decision' }],
  },
  {
    name: 'keyring of a stranger accepted from the hub',
    edits: [
      {
        file: 'packages/trust/src/keyring.ts',
        find: "if (!root) throw new Untrusted('unknown_key', shown(read.header.kid));",
        replace: 'if (!root) return state;',
      },
    ],
    tests: [{ package: 'packages/trust', pattern: 'test/keyring' }],
  },
  {
    name: 'changed variables of an untrusted application deployed',
    edits: [
      {
        file: 'apps/fleet/src/applications/decision/trust.ts',
        find: "policy.mode === 'require' && begins ?",
        replace: "policy.mode === 'unknown' && begins ?",
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/trust/malicious-applications' }],
  },
  {
    name: 'specification of a request taken for a signed one',
    edits: [
      {
        file: 'apps/fleet/src/applications/change.ts',
        find: 'change.origin === undefined && isDeepStrictEqual(spec, base.spec)',
        replace: 'change.origin === undefined',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/trust/applications' }],
  },
  {
    name: 'serials of applications not remembered',
    edits: [
      {
        file: 'apps/fleet/src/applications/store.ts',
        find: 'trust: await trustOfCopy(transaction, origin.evidence),',
        replace: 'trust: await trustOfCopy(transaction, null),',
      },
    ],
    tests: [{ package: 'apps/fleet', pattern: 'test/trust/applications' }],
  },
];
