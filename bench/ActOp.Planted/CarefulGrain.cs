namespace ActOp.Planted;

/// <summary>What the grains without a fault do with their states.</summary>
public abstract class CarefulGrain<TState> : Grain<TState>
{
    /// <summary>
    /// Writes the state. Whether a write that fails was done is not known, so the state is read: then memory says what is stored.
    /// </summary>
    protected async Task WriteOrReadAsync()
    {
        try
        {
            await WriteStateAsync();
        }
        catch
        {
            await ReadStateAsync();
            throw;
        }
    }
}
