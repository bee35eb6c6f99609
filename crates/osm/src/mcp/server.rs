//! Which request of a client is answered by what.
//!
//! A refusal of an operation is the result of a tool, which the model reads. An error of the protocol means that the
//! request itself is wrong: no such tool, an argument of another type.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, RequestMetaObject,
    ResourceContents, ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, Tool as ToolRow, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use super::arguments::{Arguments, schema};
use super::call::{Call, Voice};
use super::subscriptions::Subscriptions;
use super::tools::{self, TOOLS};
use super::{caller, resources};
use crate::World;
use crate::documents;
use crate::invocation::{Invocation, Options};
use crate::ops::goal;

/// What a model reads about the server before it uses a tool.
const INSTRUCTIONS: &str = "osm coordinates the sessions that work in this repository: agents and people. Call \
     `status` before you begin, `claim` what you will work on, and `release` it with done=true when it is done. A \
     refusal says who holds it and what to do: do other work, or wait. Claims end by themselves when a session ends.";

/// The methods that the protocol has; what is wrong with one of them is its parameters.
const METHODS: [&str; 11] = [
    "initialize",
    "completion/complete",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "tools/call",
    "tools/list",
];

/// The server of one client.
pub(super) struct Server {
    world: Arc<World>,
    options: Options,
    subscriptions: Subscriptions,
    runtime: Handle,
}

/// What was sent with a request.
type Meta = Map<String, Value>;

impl Server {
    pub(super) fn new(world: Arc<World>, options: Options, runtime: Handle) -> Self {
        Self { world, options, subscriptions: Subscriptions::default(), runtime }
    }

    /// Does the work of a request on a thread of its own, in the world of its caller.
    async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Invocation, &Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (world, options) = (Arc::clone(&self.world), self.options.clone());
        let meta = meta(&context.meta);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let done = self.runtime.spawn_blocking(move || {
            let world = caller::world(&world, &options, &meta);
            work(&Invocation::new(&world, options), &stopped)
        });
        tokio::select! {
            done = done => done.map_err(|_| ErrorData::internal_error("osm failed in this call", None)),
            () = context.ct.cancelled() => {
                stop.store(true, Ordering::Relaxed);
                Err(ErrorData::internal_error("cancelled", None))
            }
        }
    }
}

fn meta(meta: &RequestMetaObject) -> Meta {
    match serde_json::to_value(meta) {
        Ok(Value::Object(meta)) => meta,
        _ => Meta::new(),
    }
}

fn invalid(message: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

/// An error of an operation where the protocol has no result for it.
fn failed(document: Value) -> ErrorData {
    let message = document["message"].as_str().unwrap_or("osm failed").to_owned();
    ErrorData::internal_error(message, Some(document))
}

fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("no such resource: {uri}"), None)
}

/// The result of a tool: the document, as text for models and as JSON for programs.
fn result(answer: Result<Value, Value>, said: Option<String>) -> CallToolResult {
    let is_error = answer.is_err();
    let (Ok(document) | Err(document)) = answer;
    let text = std::iter::once(document.to_string()).chain(said);
    let content = text.map(ContentBlock::text).collect();
    let mut result =
        if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(document);
    result
}

/// The prompt that a goal is for clients.
fn prompt(goal: &goal::Summary) -> Prompt {
    let argument = |variable: &goal::Variable| {
        let argument = PromptArgument::new(variable.name.as_str()).with_required(false);
        match variable.choices.as_slice() {
            [] => argument,
            choices => argument.with_description(format!("one of: {}", choices.join(", "))),
        }
    };
    let arguments = goal.variables.iter().map(argument).collect();
    Prompt::new(goal.call.as_str(), Some(goal.description.as_str()), Some(arguments))
        .with_title(goal.title.as_str())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let about = Implementation::new("osm", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    /// The versions with a handshake: no agent speaks a later one.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25).into()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let row = |tool: &tools::Tool| {
            let hints = ToolAnnotations::new()
                .read_only(tool.only_reads)
                .destructive(false)
                .open_world(false);
            ToolRow::new(tool.name, tool.about, schema(tool.parameters)).with_annotations(hints)
        };
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(row).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = tools::find(&request.name)
            .ok_or_else(|| invalid(format!("unknown tool: {}", request.name)))?;
        let given = request.arguments.unwrap_or_default();
        let arguments = Arguments::new(given, tool.parameters).map_err(invalid)?;
        let run = move |invocation: &Invocation, stop: &Arc<AtomicBool>| {
            let voice = Voice::new(Arc::clone(stop));
            let mut call = Call { invocation, arguments: &arguments, voice };
            let answer = (tool.run)(&mut call);
            result(answer, call.voice.said())
        };
        Ok(self.work(&context, run).await?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let row = |it: &resources::Resource| {
            rmcp::model::Resource::new(it.uri, it.name)
                .with_description(it.about)
                .with_mime_type(it.media)
        };
        let rows = resources::RESOURCES.iter().map(row).collect();
        Ok(ListResourcesResult::with_all_items(rows))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let resource = resources::find(&request.uri).ok_or_else(|| no_resource(&request.uri))?;
        let read = self.work(&context, |invocation, _| (resource.read)(invocation)).await?;
        let text = read.map_err(failed)?;
        let contents = ResourceContents::text(text, resource.uri).with_mime_type(resource.media);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let resource = resources::find(&request.uri).ok_or_else(|| no_resource(&request.uri))?;
        let (subscriptions, options) = (self.subscriptions.clone(), self.options.clone());
        let (peer, runtime) = (context.peer.clone(), self.runtime.clone());
        let told = move || {
            let changed = ResourceUpdatedNotificationParam::new(resource.uri);
            // A client that is gone needs to hear nothing.
            drop(runtime.block_on(peer.notify_resource_updated(changed)));
        };
        let subscribe = move |invocation: &Invocation, _: &Arc<AtomicBool>| {
            subscriptions.add(resource, (invocation.world.clone(), options), told)
        };
        self.work(&context, subscribe).await?.map_err(failed)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list =
            self.work(&context, |invocation, _| goal::list(invocation, &mut Voice::default()));
        let list = list.await?;
        let usable = list.goals.iter().filter(|goal| !goal.hidden && goal.blocked.is_none());
        Ok(ListPromptsResult::with_all_items(usable.map(prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let values = request.arguments.unwrap_or_default();
        let name = request.name;
        let build = move |invocation: &Invocation, _: &Arc<AtomicBool>| {
            goal::build(invocation, &name, &values, &mut Voice::default())
        };
        let built = self.work(&context, build).await?;
        let built = built.map_err(|error| match error {
            goal::Error::Unknown(_) | goal::Error::Invalid(_) => invalid(error.to_string()),
            error => failed(documents::failure(error)),
        })?;
        let message = PromptMessage::new_text(Role::User, built.text);
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            return Err(invalid(format!("invalid parameters of {}", request.method)));
        }
        let message = format!("unknown method: {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}
