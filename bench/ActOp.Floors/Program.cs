using ActOp.Floors;

return await FloorCommands.Build().Parse(args).InvokeAsync();
