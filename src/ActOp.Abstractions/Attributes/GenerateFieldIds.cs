namespace Orleans;

/// <summary>Which members get an id on the wire without saying so.</summary>
public enum GenerateFieldIds
{
    /// <summary>None: every member that is written has an <see cref="IdAttribute"/>.</summary>
    None = 0,

    /// <summary>All public properties, in an id space made from their names.</summary>
    PublicProperties = 1,
}
