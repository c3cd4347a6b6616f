using Heartbeat;

return await Commands.Build().Parse(args).InvokeAsync();
