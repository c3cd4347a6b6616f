namespace Orleans.Runtime;

/// <summary>Code of the application that runs when a silo starts.</summary>
public interface IStartupTask
{
    /// <summary>Runs; an exception ends the start.</summary>
    Task Execute(CancellationToken cancellationToken);
}
