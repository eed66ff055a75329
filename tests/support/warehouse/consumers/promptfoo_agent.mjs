// An agent for promptfoo that traces its calls: it answers by a file, by what the user said last, else it calls nothing.
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';

const answers = JSON.parse(readFileSync(process.env.AGENT_ANSWERS, 'utf8'));

export default class Agent {
  id() {
    return 'agent';
  }

  async callApi(prompt, context) {
    const said = JSON.parse(prompt).map((one) => one.content ?? '').join('\n');
    const offered = context.prompt.config.tools.map((one) => one.function.name);
    const calls = answers[said] ?? [];
    const [, traceId, parentSpanId] = context.traceparent.split('-');
    const at = BigInt(Date.now()) * 1000000n;
    const text = (key, value) => ({ key, value: { stringValue: value } });
    const spans = [{ name: 'agent', attributes: [] }, ...calls.map((call) => ({
      name: 'tool', attributes: [text('tool.name', call.name), text('tool.arguments', JSON.stringify(call.args))],
    }))].map((span, index) => ({
      traceId, parentSpanId, spanId: randomBytes(8).toString('hex'), kind: 1, ...span,
      startTimeUnixNano: String(at + BigInt(index)), endTimeUnixNano: String(at + BigInt(index) + 1n),
    }));
    const sent = await fetch(`http://127.0.0.1:4318/v1/traces`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'agent' }, spans }] }] }),
    });
    return { output: `${sent.status} ${offered.length} tools: ${JSON.stringify(calls)}` };
  }
}
