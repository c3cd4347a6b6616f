using HaloPresence.Bench;

// What is measured: the application in Silo/. What measures it: bench/HaloPresence.Bench.
return await HaloCommands.Build().Parse(args).InvokeAsync();
