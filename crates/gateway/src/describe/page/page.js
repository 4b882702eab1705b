"use strict";

// Renders the descriptions, and sends typed requests. External data is inserted as text, never as markup.

const SHOWN_MAX = 200000;
/// The members of a path item that are operations. The others (`servers`, `parameters`, `summary`, ...) apply to all of them.
const VERBS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// Shows the request of the form as a shell command.
let showCurl = () => {};
/// Whether the list is above the entry, as in page.css.
const narrow = window.matchMedia("(max-width: 46rem)");
const byId = (id) => document.getElementById(id);

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/// The schema that a reference names, merged with the members beside the reference.
function resolved(schema, documents) {
  let found = schema || {};
  for (let depth = 0; found.$ref && depth < 8; depth += 1) {
    const { $ref, ...beside } = found;
    let target = documents;
    for (const part of $ref.slice(2).split("/")) target = target ? target[part] : undefined;
    found = { ...target, ...beside };
  }
  return found;
}

/// A type in a few words.
function typeText(schema, document, depth = 0) {
  const known = schema && schema.$ref ? schema.$ref.split("/").pop() : null;
  const full = resolved(schema, document);
  if (full.const !== undefined) return JSON.stringify(full.const);
  if (full.enum) return full.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (known && depth > 0) return known;
  const several = full.anyOf || full.oneOf;
  if (several && !full.properties) return several.map((one) => typeText(one, document, depth + 1)).join(" | ");
  if (full.type === "array") return `[${typeText(full.items, document, depth + 1)}, …]`;
  if (full.properties && depth < 3) {
    const required = new Set(full.required || []);
    const inner = Object.entries(full.properties)
      .map(([name, one]) => `${name}${required.has(name) ? "" : "?"}: ${typeText(one, document, depth + 1)}`);
    return `{${inner.join(", ")}}`;
  }
  if (Array.isArray(full.type)) return full.type.join(" | ");
  return full.type || known || "any";
}

/// A sample value of a schema.
function sample(schema, document, depth = 0) {
  const full = resolved(schema, document);
  if (full.examples && full.examples.length) return full.examples[0];
  if (full.const !== undefined) return full.const;
  if (full.enum) return full.enum[0];
  if (full.anyOf && !full.properties) return sample(full.anyOf[0], document, depth + 1);
  const type = Array.isArray(full.type) ? full.type[0] : full.type;
  if (type === "object" || full.properties) {
    const made = {};
    if (depth < 4) for (const name of full.required || []) made[name] = sample(full.properties?.[name], document, depth + 1);
    return made;
  }
  if (type === "array") return [];
  if (type === "integer" || type === "number") return full.minimum || 0;
  if (type === "boolean") return false;
  return "";
}

function sampleBody(schema, document) {
  const body = sample(schema, document);
  // Where one of several names suffices, the first is used.
  const groups = [schema, ...(schema.allOf || [])].filter((part) => part.anyOf);
  for (const group of groups) {
    const first = group.anyOf[0];
    for (const name of first.required || []) body[name] = sample(first.properties?.[name], document);
  }
  return body;
}

/// An operation, merged with the members that its path item shares.
function completed(item, operation, api) {
  const own = (operation.parameters || []).map((parameter) => resolved(parameter, api));
  const isOwn = (shared) => own.some((parameter) => parameter.name === shared.name && parameter.in === shared.in);
  const shared = (item.parameters || []).map((parameter) => resolved(parameter, api));
  return {
    ...operation,
    summary: operation.summary ?? item.summary ?? "",
    servers: operation.servers ?? item.servers ?? api.servers ?? [{ url: "/" }],
    parameters: [...shared.filter((parameter) => !isOwn(parameter)), ...own],
  };
}

function restItems(api) {
  const items = [];
  for (const [path, item] of Object.entries(api.paths)) {
    for (const verb of VERBS.filter((name) => item[name])) {
      const operation = completed(item, item[verb], api);
      items.push({
        id: operation.operationId ?? `${verb} ${path}`, group: operation.tags?.[0] ?? api.info.title, verb: verb.toUpperCase(),
        title: path.slice(1), summary: operation.summary, show: () => restDetail(api, path, verb, operation),
      });
    }
  }
  return items;
}

function rpcItems(rpc) {
  const surface = rpc["x-surface"];
  const methods = rpc.methods.filter((method) => !surface || method.name !== "rpc.discover");
  return methods.map((method) => ({
    id: surface ? `${surface}/${method.name}` : method.name,
    group: `JSON-RPC: ${surface ?? method.tags?.[0].name ?? "rpc"}`, verb: "RPC", title: method.name,
    summary: method.summary, show: () => rpcDetail(rpc, method),
  }));
}

function parameterTable(rows) {
  if (!rows.length) return make("p", { className: "note" }, "No parameters.");
  const body = make("tbody");
  for (const [name, type, about] of rows) {
    body.append(make("tr", {}, make("td", {}, name), make("td", {}, make("code", {}, type)), make("td", {}, about)));
  }
  const head = make("tr", {}, ...["name", "type", ""].map((text) => make("th", {}, text)));
  return make("table", {}, make("thead", {}, head), body);
}

/// A row for each member, with its aliases.
function members(schema, api) {
  const all = Object.entries(schema.properties || {});
  const required = new Set(schema.required || []);
  for (const condition of [schema, ...(schema.allOf || [])].flatMap((part) => part.anyOf || [])) {
    for (const name of condition.required || []) required.add(name);
  }
  const isAlias = (one) => one["x-same-as"] && (one.description || "").startsWith("The same as");
  return all.filter(([, one]) => !isAlias(one)).map(([name, one]) => {
    const others = all.filter(([, other]) => isAlias(other) && other["x-same-as"] === name).map(([other]) => other);
    const about = one.description || resolved(one.anyOf ? one.anyOf[0] : one, api).description || "";
    const also = others.length ? `${about ? ". " : ""}Also: ${others.join(", ")}` : "";
    return [name + (required.has(name) ? " *" : ""), typeText(one, api), about + also];
  });
}

function restDetail(api, path, verb, operation) {
  const rows = [];
  const inputs = [];
  for (const parameter of operation.parameters) {
    if (parameter.in !== "path" && parameter.in !== "query") continue;
    const schema = resolved(parameter.schema, api);
    rows.push([parameter.name + (parameter.required ? " *" : ""), typeText(parameter.schema, api), schema.description || ""]);
    const input = make("input", { value: schema.examples?.[0] ?? "", spellcheck: false, autocomplete: "off" });
    inputs.push({ parameter, input });
  }
  const [[mediaType, { schema } = {}] = []] = Object.entries(operation.requestBody?.content ?? {});
  if (schema) rows.push(...members(schema, api));
  const isText = mediaType === "text/plain";
  const value = isText ? "" : schema && JSON.stringify(sampleBody(schema, api), null, 2);
  const body = schema && make("textarea", { value, spellcheck: false });
  const contents = Object.values((operation.responses["200"] ?? operation.responses["202"])?.content ?? {});
  const answer = contents[0]?.schema;
  const urls = operation.servers.map((server) => server.url.replace(/\/$/, ""));
  // A server URL without `{key}` takes the key in a header, or none.
  const open = urls.find((url) => !url.includes("{"));
  const keyed = urls.find((url) => url.includes("{key}"));
  const request = () => {
    let target = path;
    const query = new URLSearchParams();
    for (const { parameter, input } of inputs) {
      if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(parameter.name, input.value);
    }
    const text = query.size ? `?${query}` : "";
    return { url: `${open ?? keyed ?? ""}${target}${text}`, method: verb.toUpperCase(), body: body ? body.value : undefined };
  };
  return detail(`${verb.toUpperCase()} ${path}`, operation.summary, rows, inputs, body, typeText(answer, api), request);
}

function rpcDetail(rpc, method) {
  const rows = method.params.map((param) => {
    const about = param.description || param.schema.description || resolved(param.schema, rpc).description || "";
    return [param.name + (param.required ? " *" : ""), typeText(param.schema, rpc), about];
  });
  const call = { jsonrpc: "2.0", id: 1, method: method.name, params: sampleParams(method, rpc) };
  const body = make("textarea", { value: JSON.stringify(call, null, 2), spellcheck: false });
  const { url, variables } = rpc.servers[0];
  const server = url.replace(/\$\{(\w+)\}/g, (_, name) => name === "key" ? "{key}" : variables[name].default);
  // The first server of the main endpoint takes the key in a header; a surface has it in its path.
  const request = () => ({ url: server, method: "POST", body: body.value });
  return detail(method.name, [method.summary, method.description].filter(Boolean).join(". "), rows, [], body, typeText(method.result.schema, rpc), request);
}

/// The example of a method, or samples of its parameters.
function sampleParams(method, rpc) {
  const example = method.examples?.[0]?.params;
  const isNamed = method.paramStructure === "by-name";
  if (example && isNamed) return Object.fromEntries(example.map(({ name, value }) => [name, value]));
  if (example) return example.map(({ value }) => value);
  return method.params.filter((param) => param.required).map((param) => sample(param.schema, rpc));
}

function detail(title, summary, rows, inputs, body, answer, request) {
  const outcome = make("div");
  const form = make("form", {}, ...inputs.map(({ parameter, input }) =>
    make("label", { className: "path" }, `${parameter.name} `, input)));
  if (body) {
    body.rows = Math.min(24, body.value.split("\n").length + 1);
    form.append(make("label", {}, "Body", body));
  }
  form.append(make("div", { className: "row" }, make("button", { type: "submit" }, "Send")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(request(), outcome);
  });
  const line = make("pre");
  showCurl = () => line.replaceChildren(curlLine(request(), byId("key").value.trim()));
  form.addEventListener("input", showCurl);
  showCurl();
  const gives = make("details", {}, make("summary", {}, "Answer"), make("pre", {}, answer));
  const curl = make("details", { open: true }, make("summary", {}, "curl"), line);
  return [make("h3", {}, title), make("p", {}, summary), parameterTable(rows), gives, form, curl, outcome];
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/// Whether the key goes into the path; otherwise into a header.
function hasKeyInPath(url) {
  return url.includes("/{key}/");
}

function curlLine({ url, method, body }, key) {
  const words = ["curl", "-sS"];
  if (key && !hasKeyInPath(url)) words.push("-H", quoted("x-service-api-key: YOUR_KEY"));
  if (method !== (body === undefined ? "GET" : "POST")) words.push("-X", method);
  if (body !== undefined) words.push("--data", quoted(body.replace(/\s*\n\s*/g, " ")));
  words.push(quoted(location.origin + url.replace("{key}", "YOUR_KEY")));
  return words.join(" ");
}

async function send(request, outcome) {
  const key = byId("key").value.trim();
  const headers = key && !hasKeyInPath(request.url) ? { "x-service-api-key": key } : {};
  const url = request.url.replace("{key}", encodeURIComponent(key || "KEY"));
  if (request.body !== undefined) headers["Content-Type"] = "application/json";
  outcome.replaceChildren(make("p", { className: "note" }, "Waiting …"));
  const began = performance.now();
  let parts;
  try {
    const response = await fetch(url, { method: request.method, headers, body: request.body, cache: "no-store" });
    const text = await response.text();
    const took = Math.round(performance.now() - began);
    const shown = [...response.headers].filter(([name]) => name.startsWith("x-") || name === "retry-after" || name === "etag");
    parts = [
      make("p", {}, make("strong", { className: response.ok ? "good" : "bad" }, `${response.status} ${response.statusText}`),
        ` ${took} ms, ${text.length} characters`),
      make("pre", {}, pretty(text)),
      make("details", {}, make("summary", {}, "Headers"), make("pre", {}, shown.map((pair) => pair.join(": ")).join("\n"))),
    ];
  } catch (error) {
    parts = [make("p", { className: "bad" }, `No answer: ${error.message}`)];
  }
  outcome.replaceChildren(...parts);
}

/// JSON with line breaks, with all digits of its numbers.
function pretty(text) {
  const begun = text.slice(0, SHOWN_MAX);
  let out = "", depth = 0, inText = false, escaped = false;
  const line = () => `\n${"  ".repeat(Math.max(depth, 0))}`;
  if (!/^\s*[[{]/.test(begun)) return begun;
  for (let at = 0; at < begun.length; at += 1) {
    const letter = begun[at];
    if (inText) {
      out += letter;
      if (escaped) escaped = false;
      else if (letter === "\\") escaped = true;
      else if (letter === '"') inText = false;
    } else if (letter === '"') {
      inText = true;
      out += letter;
    } else if (letter === "{" || letter === "[") {
      const isEmpty = begun[at + 1] === "}" || begun[at + 1] === "]";
      depth += 1;
      out += isEmpty ? letter : letter + line();
    } else if (letter === "}" || letter === "]") {
      depth -= 1;
      const isEmpty = begun[at - 1] === "{" || begun[at - 1] === "[";
      out += isEmpty ? letter : line() + letter;
    } else if (letter === ",") {
      out += letter + line();
    } else if (letter === ":") {
      out += ": ";
    } else if (!/\s/.test(letter)) {
      out += letter;
    }
  }
  return text.length > SHOWN_MAX ? `${out}\n… ${text.length - SHOWN_MAX} more characters` : out;
}

function list(items) {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = decodeURIComponent(location.hash.slice(1));
  const groups = new Map();
  for (const item of items) {
    const text = `${item.verb} ${item.title} ${item.group} ${item.summary}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    if (!groups.has(item.group)) groups.set(item.group, []);
    const link = make("a", { href: `#${encodeURIComponent(item.id)}`, title: item.summary },
      make("span", { className: "verb" }, item.verb), item.title);
    if (item.id === chosen) link.setAttribute("aria-current", "page");
    groups.get(item.group).push(link);
  }
  const parts = [...groups].flatMap(([name, links]) => [make("h2", {}, name), ...links]);
  byId("list").replaceChildren(...(parts.length ? parts : ["Nothing of that name."]));
  // Beside the entry, the list scrolls to the current item; above it, the page does not scroll.
  if (!narrow.matches) byId("list").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

async function begin() {
  const load = async (path) => (await fetch(path)).json();
  const paths = ["/v4/openapi.json", "/v4/openapi/esplora.json", "/api/v1/openapi.json", "/v4/openrpc.json"];
  const [api, esplora, verification, rpc] = await Promise.all(paths.map(load));
  for (const path of rpc["x-messages"] || []) {
    byId("files").append(make("a", { href: path }, path.split("/").pop()));
  }
  const surfaces = await Promise.all((rpc["x-surfaces"] || []).map(load));
  const order = api.tags.map((tag) => tag.name);
  const rest = restItems(api).sort((one, other) => order.indexOf(one.group) - order.indexOf(other.group));
  const items = [...rest, ...restItems(esplora), ...restItems(verification), ...[rpc, ...surfaces].flatMap(rpcItems)];
  const choose = () => {
    const chosen = decodeURIComponent(location.hash.slice(1));
    const item = items.find((one) => one.id === chosen) || items[0];
    byId("detail").replaceChildren(...item.show());
    list(items);
    // On a narrow page the list is above: the chosen entry is scrolled into view.
    if (chosen && narrow.matches) byId("detail").scrollIntoView();
  };
  byId("filter").addEventListener("input", () => list(items));
  byId("key").addEventListener("input", () => showCurl());
  window.addEventListener("hashchange", choose);
  choose();
}

begin().catch((error) => byId("list").replaceChildren(`The descriptions could not be read: ${error.message}`));
