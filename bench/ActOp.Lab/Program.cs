using System.CommandLine;
using ActOp.Lab;
using ActOp.Lab.Groups;
using ActOp.Lab.Overlays;
using ActOp.Lab.Seda;
using Spectre.Console;

// A file or a pipe has no width; tables must not wrap there.
if (Console.IsOutputRedirected)
    AnsiConsole.Profile.Width = 180;

RootCommand root = new("Plays what ActOp decides, locality partitioning and threads of stages, in memory, through the code that silos run.")
{
    PartitionCommand.Create(),
    SyntheticCommand.Create(),
    SedaCommand.Create(),
    StudyCommand.CreateTicks(),
    StudyCommand.CreateIdle(),
    OverlayCommand.Create(),
};
return root.Parse(args).Invoke();
