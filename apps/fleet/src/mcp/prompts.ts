import type { McpPrompt } from '@svc/mcp';

export const prompts: readonly McpPrompt[] = [
  {
    declaration: {
      name: 'deploy_template',
      title: 'Deploy a template',
      description: 'From the documentation of a template to a running deployment, with a plan before anything changes',
      arguments: [
        { name: 'template', description: 'Slug of the template', required: true },
        { name: 'name', description: 'Name of the deployment. Default: the slug' },
      ],
    },
    text: ({ template, name = template }) =>
      `Deploy the template "${template}" as "${name}". Read get_template first, and ask me for each required variable without a default. Show me the result of plan_deployment before you call create_deployment. Then call wait_for_deployment, and tell me the endpoints. If the deployment does not run, read its events and logs and tell me the reason.`,
  },
  {
    declaration: {
      name: 'diagnose_deployment',
      title: 'Diagnose a deployment',
      description: 'Reads the events, conditions and logs of a deployment, and changes nothing',
      arguments: [{ name: 'deployment', description: 'Name of the deployment', required: true }],
    },
    text: ({ deployment }) =>
      `Find out why the deployment "${deployment}" does not work as requested. Use get_deployment with its events and read_deployment_logs, and list_targets if it has no target. Change nothing. Tell me the cause, the evidence, and what you recommend.`,
  },
];
