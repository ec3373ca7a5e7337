import controls from 'virtual:template-controls';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { ClipboardPaste } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { differingMembers, valueOfInput } from '../../../shared/catalog/control-values.ts';
import { imageOf } from '../../../shared/catalog/image-reference.ts';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { FormError } from '../../../shared/ui/feedback/FormError.tsx';
import { PageHeader } from '../../../shared/ui/shell/PageHeader.tsx';
import { useBlocked } from '../../api.ts';
import { DeployActions, NameAndTargetFields, ReplicasFields, VolumeFields } from '../form/DeployFields.tsx';
import { HostPortsField, hostPortsOf } from '../form/HostPortsField.tsx';
import { NewDeploymentPlan, useNewDeployment } from '../form/NewDeployment.tsx';
import { useFreeName } from '../form/useFreeName.ts';
import { usePlannedForm } from '../form/usePlannedForm.ts';
import { PlanBeside } from '../PlanPanel.tsx';
import { firstScalingDraft, type ScalingDraft, scalingBodyOf } from '../scaling/scaling-draft.ts';
import { PolicyFields } from '../updates/policy/PolicyFields.tsx';
import { NEW_POLICY, type PolicyDraft, policyChanges, policyDraftOf } from '../updates/policy/policy-draft.ts';
import { type PlanBody, planFields, usePlan } from '../usePlan.ts';
import { targetOf } from '../useTargets.ts';
import { type VolumeDraft, volumesBodyOf } from '../VolumeField.tsx';
import { dnsLabelOf, type Omission, type RunCommand } from './docker-run.ts';
import { Omissions, PasteDialog } from './PasteDialog.tsx';
import { SpecFields, specFieldNames } from './SpecFields.tsx';
import {
  defaultSpec,
  draftOfSpec,
  fieldOf,
  type SpecDraft,
  specControls,
  specOfDraft,
  type WrittenSpec,
} from './spec-draft.ts';
import { newVariableRow, type VariableRow, VariableRows, variablesOf } from './VariableRows.tsx';

const unset = defaultSpec(controls);

interface Draft {
  /** Undefined: a free name that derives from the image. */
  readonly name: string | undefined;
  readonly target: string;
  readonly replicas: string;
  readonly scaling: ScalingDraft;
  readonly spec: SpecDraft;
  readonly variables: readonly VariableRow[];
  readonly hostPorts: string;
  readonly volumes: Readonly<Record<string, VolumeDraft>>;
  readonly policy: PolicyDraft;
}

const firstDraft: Draft = {
  name: undefined,
  target: '',
  replicas: '1',
  scaling: firstScalingDraft,
  spec: draftOfSpec(controls, unset),
  variables: [],
  hostPorts: '',
  volumes: {},
  policy: policyDraftOf(NEW_POLICY),
};

/** The name that derives from the last part of an image name. */
const nameOfImage = (image: string) => dnsLabelOf(imageOf(image).image_name.split('/').at(-1) ?? '') || 'application';

/** The mounts that the input of a form declares. */
function mountsOf({ inputs }: SpecDraft): WorkloadSpec['volume_mounts'] {
  const member = specControls(controls).find(({ name }) => name === 'volume_mounts');
  // The control has the type of its member.
  return member ? (valueOfInput(member, inputs.volume_mounts ?? '') as WorkloadSpec['volume_mounts']) : [];
}

function bodyOf(name: string, { target, replicas, scaling, spec, variables, hostPorts, volumes, policy }: Draft) {
  const { empty, declared, env } = variablesOf(variables);
  const described = specOfDraft(controls, spec, unset);
  const mounts = new Set(mountsOf(spec).map((mount) => mount.name));
  return {
    name,
    spec: differingMembers<WrittenSpec>(unset, {
      ...described,
      env: [...empty, ...described.env],
      env_schema: declared,
    }),
    target: targetOf(target),
    replicas: Number(replicas),
    ...scalingBodyOf(scaling),
    env,
    ...(hostPorts !== '' && { host_ports: hostPortsOf(hostPorts) }),
    volumes: volumesBodyOf(Object.fromEntries(Object.entries(volumes).filter(([mount]) => mounts.has(mount)))),
    updates: policyChanges(NEW_POLICY, policy),
  } satisfies PlanBody;
}

/** A draft with what a `docker run` command states. Everything else remains. */
function withRunCommand(draft: Draft, run: RunCommand): Draft {
  const stated = {
    command: run.command,
    ports: run.ports,
    volume_mounts: run.volumes,
    tmpfs: run.temporary,
    entrypoint: run.entrypoint ? [run.entrypoint] : [],
    working_dir: run.workingDir ?? null,
    run_as: run.runAs ?? null,
    read_only_root: run.readOnlyRoot ?? false,
    ...(run.cpu !== undefined && { cpu_request: run.cpu }),
    ...(run.memory !== undefined && { memory_request: run.memory }),
    ...(run.gpus !== undefined && { gpu_count: run.gpus }),
    ...(run.stopSeconds !== undefined && { stop_grace_seconds: run.stopSeconds }),
  };
  const { inputs } = draftOfSpec(controls, { ...unset, ...stated } as WorkloadSpec); // its lists are not changed
  const changed = Object.keys(stated).map((member) => [member, inputs[member] ?? '']);
  const { health } = draft.spec;
  return {
    ...draft,
    name: run.name === undefined ? draft.name : dnsLabelOf(run.name),
    spec: {
      image: run.image,
      health: run.healthCommand === undefined ? health : { kind: 'exec', rest: run.healthCommand },
      inputs: { ...draft.spec.inputs, ...Object.fromEntries(changed) },
    },
    variables: run.variables.map(({ name, value }) => newVariableRow(name, value)),
  };
}

/** The form for an image, with the plan beside it. One request creates the workload and its deployment. */
export default function DeployImage() {
  const { draft, withPlan } = usePlannedForm(firstDraft);
  const [isPasting, setPasting] = useState(false);
  const [omissions, setOmissions] = useState<readonly Omission[]>([]);
  const blocked = useBlocked();
  const base = nameOfImage(draft.spec.image);
  const freeName = useFreeName(base) ?? base;
  const name = draft.name ?? freeName;
  const body = bodyOf(name, draft);
  const plan = usePlan(body);
  const { deploy, generatedValues } = useNewDeployment();
  const { isSubmitted, isRejected, isShown, messageAt, errorAt, change, submit } = withPlan(plan, deploy);
  /** The message for a member of the specification, which a reason of the plan names without `spec`. */
  const specErrorAt = (...members: readonly string[]) =>
    members
      .filter((member) => isShown(`spec.${fieldOf(member)}`))
      .map((member) => messageAt(`spec.${member}`) ?? (member.startsWith('env') ? undefined : messageAt(member)))
      .find((message) => message !== undefined);
  const errorOfVariable = (row: VariableRow) => {
    if (!isShown('variables')) return undefined;
    const at = (list: readonly { readonly name: string }[]) => list.findIndex((one) => one.name === row.name);
    const { empty, declared } = variablesOf(draft.variables);
    return (
      (row.name === '' ? undefined : messageAt(`env.${row.name}`)) ??
      messageAt(`spec.env_schema.${at(declared)}`) ??
      messageAt(`spec.env.${at(empty)}`)
    );
  };
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Deployments'), href: '/deployments' }]}
        title={t('Deploy an image')}
        about={t('Runs a container image that no template describes.')}
        actions={
          <Button icon={ClipboardPaste} aria-haspopup="dialog" onClick={() => setPasting(true)}>
            {t('Paste a docker run command')}
          </Button>
        }
      />
      <PlanBeside
        form={
          <form
            className="panel"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              submit((idempotencyKey) => deploy.mutate({ body, idempotencyKey }));
            }}
          >
            {omissions.length > 0 && <Omissions omissions={omissions} onClose={() => setOmissions([])} />}
            <SpecFields
              draft={draft.spec}
              errorAt={specErrorAt}
              onChange={(member, spec) => change(`spec.${member}`, { spec })}
              variables={
                <VariableRows
                  rows={draft.variables}
                  errorOf={errorOfVariable}
                  deploymentName={name}
                  onChange={(variables) => change('variables', { variables })}
                />
              }
              volumes={
                <VolumeFields mounts={mountsOf(draft.spec)} volumes={draft.volumes} errorAt={errorAt} change={change} />
              }
            />
            <PolicyFields
              source="image"
              draft={draft.policy}
              errorAt={errorAt}
              onChange={(policy) => change('updates', { policy })}
            />
            <div className="form-section">
              <div className="fields">
                <NameAndTargetFields name={name} target={draft.target} errorAt={errorAt} change={change} />
                <ReplicasFields replicas={draft.replicas} scaling={draft.scaling} errorAt={errorAt} change={change} />
              </div>
              {body.spec.ports && body.spec.ports.length > 0 && (
                <HostPortsField
                  ports={body.spec.ports}
                  value={draft.hostPorts}
                  error={errorAt('host_ports')}
                  onChange={(hostPorts) => change('host_ports', { hostPorts })}
                />
              )}
              <FormError error={deploy.error} shown={[...planFields, ...specFieldNames.map((one) => `spec.${one}`)]} />
              <DeployActions
                pending={deploy.isPending}
                blocked={blocked('createDeployment')}
                isRejected={isSubmitted && isRejected}
              >
                <Link href="/deployments" className="button ghost">
                  {t('Cancel')}
                </Link>
              </DeployActions>
            </div>
          </form>
        }
        plan={
          <NewDeploymentPlan
            plan={plan}
            body={body}
            correctable={{ fields: ['target', 'replicas', 'volumes', ...specFieldNames] }}
          />
        }
      />
      {isPasting && (
        <PasteDialog
          onClose={() => setPasting(false)}
          onRead={(run) => {
            setPasting(false);
            setOmissions(run.omissions);
            change('spec.image_name', withRunCommand(draft, run));
          }}
        />
      )}
      {generatedValues}
    </>
  );
}
