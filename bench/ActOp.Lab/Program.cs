using System.CommandLine;
using ActOp.Lab;

RootCommand root = new("Plays the locality partitioning of ActOp on graphs in memory, through the code that silos run.")
{
    PartitionCommand.Create(),
    SyntheticCommand.Create(),
};
return root.Parse(args).Invoke();
