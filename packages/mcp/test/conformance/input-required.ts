// The tools and the prompt with which the conformance suite tests results that require input.
import { randomUUID } from 'node:crypto';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type McpServer,
  type RequestStateCodec,
} from '@modelcontextprotocol/server';
import { askModel, askUser, says, text } from './content.ts';
import { toolsOf } from './tools.ts';

interface State {
  readonly round?: number;
  readonly nonce: string;
}

export function registerInputTools(server: McpServer, sealed: RequestStateCodec<State>): void {
  const tool = toolsOf(server);
  const mint = (round?: number) => sealed.mint({ nonce: randomUUID(), ...(round === undefined ? {} : { round }) });
  tool('test_missing_capability', (_, { mcpReq }) =>
    mcpReq.inputResponses?.answer
      ? says(text('answered'))
      : inputRequired({ inputRequests: { answer: askModel('pong?') } }),
  );
  tool('test_input_required_result_elicitation', (_, { mcpReq }) => {
    const { name } = acceptedContent(mcpReq.inputResponses, 'user_name') ?? {};
    if (typeof name === 'string') return says(text(`Hello, ${name}!`));
    return inputRequired({ inputRequests: { user_name: askUser('What is your name?', 'name') } });
  });
  tool('test_input_required_result_sampling', (_, { mcpReq }) => {
    // The answer of a model.
    const answer = mcpReq.inputResponses?.capital_question as { content?: { text?: string } } | undefined;
    if (answer) return says(text(`Sampling response: ${answer.content?.text}`));
    return inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?') } });
  });
  tool('test_input_required_result_list_roots', (_, { mcpReq }) => {
    // The roots of a client.
    const { roots } = (mcpReq.inputResponses?.client_roots ?? {}) as { roots?: { uri: string }[] };
    if (roots) return says(text(roots.map(({ uri }) => uri).join(', ')));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  const confirms = (name: string, said: string) =>
    tool(name, async (_, { mcpReq }) => {
      const isConfirmed = mcpReq.requestState() !== undefined && acceptedContent(mcpReq.inputResponses, 'confirm');
      if (isConfirmed) return says(text(said));
      return inputRequired({
        inputRequests: { confirm: askUser('Please confirm', 'ok', 'boolean') },
        requestState: await mint(),
      });
    });
  confirms('test_input_required_result_request_state', 'state-ok');
  confirms('test_input_required_result_tampered_state', 'integrity-ok');
  const questions = {
    user_name: askUser('What is your name?', 'name'),
    greeting: askModel('Generate a greeting'),
    client_roots: inputRequired.listRoots(),
  };
  tool('test_input_required_result_multiple_inputs', async (_, { mcpReq }) => {
    const answers = mcpReq.inputResponses ?? {};
    if (Object.keys(questions).every((name) => answers[name])) return says(text('all three'));
    return inputRequired({ inputRequests: questions, requestState: await mint() });
  });
  tool('test_input_required_result_multi_round', async (_, { mcpReq }) => {
    const { round = 0 } = mcpReq.requestState<State>() ?? {};
    if (round === 2) return says(text('Multi-round complete'));
    const step = { [`step${round + 1}`]: askUser(`Step ${round + 1}`, round === 0 ? 'name' : 'color') };
    return inputRequired({ inputRequests: step, requestState: await mint(round + 1) });
  });
  tool('test_input_required_result_capabilities', (_, { mcpReq }) => {
    if (mcpReq.inputResponses) return says(text('fulfilled'));
    const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
    // Validated by the SDK.
    const can = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Readonly<Record<string, unknown>>;
    const inputRequests = {
      ...(can.elicitation ? { user_name: questions.user_name } : {}),
      ...(can.sampling ? { greeting: questions.greeting } : {}),
      ...(can.roots ? { client_roots: questions.client_roots } : {}),
    };
    return Object.keys(inputRequests).length === 0 ? says(text('nobody to ask')) : inputRequired({ inputRequests });
  });
}
