using ActOp.Wire;

namespace ActOp.Serialization;

/// <summary>Reads the members of an exception into an object that exists already.</summary>
internal interface IExceptionMembers
{
    void Fill(ref WireReader reader, object value);
}
