using System.CommandLine;
using ActOp.Lab;
using Spectre.Console;

// A file or a pipe has no width; tables must not wrap there.
if (Console.IsOutputRedirected)
    AnsiConsole.Profile.Width = 180;

RootCommand root = new("Plays the locality partitioning of ActOp on graphs in memory, through the code that silos run.")
{
    PartitionCommand.Create(),
    SyntheticCommand.Create(),
};
return root.Parse(args).Invoke();
